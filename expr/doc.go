// Package expr evaluates small scalar expressions exactly as PostgreSQL does.
//
// It serves the statements that must not go through an embedded query engine, because they are frequent and short, or because their values
// may not pass through another engine's types: the VALUES of an INSERT, a DEFAULT, UPDATE t SET n = n + 1 WHERE id = $1, AS OF now() - interval '1 hour'.
//
//	PostgreSQL's parse tree ──Bind(scope)──▶ Expr (typed) ──Eval(row)──▶ Value: the stored bytes, or NULL
//
// Bind resolves names and types by PostgreSQL's rules: an untyped literal or parameter takes the type that its place asks for, numbers widen
// int2, int4, int8, numeric, float4, float8. What Bind does not know it refuses with ErrUnsupported, and the caller hands the statement to the query engine;
// it never guesses. Values are equal and ordered by tailrace.AppendKey, read and printed by package format.
//
// The package knows literals, columns, parameters, arithmetic, comparison, AND OR NOT, IS NULL, IN, BETWEEN, CASE, ||, coalesce and its kin, now(),
// casts, and timestamps with intervals; of arrays ARRAY[...], elements, ANY and ALL, ||, and the functions that conditions often use. It has no
// aggregates, subqueries, or sets. Values of a domain are values of the type under it that BindDomain's conditions allow; enums order by their labels' places.
package expr
