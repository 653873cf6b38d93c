package sql

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
)

// acceptedSettings are settings of PostgreSQL that mean nothing here and that clients set all the same: they are remembered and shown, and do nothing. Values
// are PostgreSQL's out of the box.
var acceptedSettings = slices.Concat(
	accepted(nil, "work_mem=4MB maintenance_work_mem=64MB temp_buffers=8MB effective_cache_size=4GB logical_decoding_work_mem=64MB hash_mem_multiplier=2 "+
		"random_page_cost=4 seq_page_cost=1 cpu_tuple_cost=0.01 cpu_index_tuple_cost=0.005 cpu_operator_cost=0.0025 parallel_setup_cost=1000 parallel_tuple_cost=0.1 "+
		"max_parallel_workers=8 max_parallel_workers_per_gather=2 max_parallel_maintenance_workers=2 min_parallel_table_scan_size=8MB min_parallel_index_scan_size=512kB "+
		"effective_io_concurrency=1 maintenance_io_concurrency=10 jit_above_cost=100000 jit_inline_above_cost=500000 jit_optimize_above_cost=500000 "+
		"default_statistics_target=100 from_collapse_limit=8 join_collapse_limit=8 cursor_tuple_fraction=0.1 geqo_threshold=12 gin_fuzzy_search_limit=0 "+
		"constraint_exclusion=partition plan_cache_mode=auto force_parallel_mode=off compute_query_id=auto default_toast_compression=pglz "+
		"default_tablespace= temp_tablespaces= default_table_access_method=heap default_text_search_config=pg_catalog.simple "+
		"xmloption=content xmlbinary=base64 backslash_quote=safe_encoding timezone_abbreviations=Default session_replication_role=origin "+
		"log_min_messages=warning log_min_error_statement=error log_min_duration_statement=-1 log_statement=none log_error_verbosity=default log_duration=off "+
		"idle_session_timeout=0 client_connection_check_interval=0 tcp_keepalives_idle=0 tcp_keepalives_interval=0 tcp_keepalives_count=0 tcp_user_timeout=0 "+
		"commit_delay=0 commit_siblings=5 vacuum_cost_delay=0 vacuum_cost_limit=200 vacuum_freeze_min_age=50000000 vacuum_freeze_table_age=150000000 "+
		"local_preload_libraries= session_preload_libraries= dynamic_library_path=$libdir wal_compression=off"),
	accepted(boolSetting, "enable_bitmapscan=on enable_gathermerge=on enable_hashagg=on enable_hashjoin=on enable_incremental_sort=on enable_indexonlyscan=on "+
		"enable_indexscan=on enable_material=on enable_memoize=on enable_mergejoin=on enable_nestloop=on enable_parallel_append=on enable_parallel_hash=on "+
		"enable_partition_pruning=on enable_partitionwise_aggregate=off enable_partitionwise_join=off enable_seqscan=on enable_sort=on enable_tidscan=on geqo=on jit=on "+
		"array_nulls=on check_function_bodies=on escape_string_warning=on lo_compat_privileges=off quote_all_identifiers=off synchronize_seqscans=on "+
		"transform_null_equals=off track_activities=on track_counts=on track_io_timing=off parallel_leader_participation=on debug_pretty_print=on"),
)

// accepted reads "name=value name=value".
func accepted(check func(string) (string, error), list string) []setting {
	var out []setting
	for _, kv := range strings.Fields(list) {
		name, value, _ := strings.Cut(kv, "=")
		out = append(out, setting{name: name, value: value, check: check})
	}
	return out
}

// allSettings is every setting by name.
func allSettings() []setting {
	all := slices.Concat(ownSettings, acceptedSettings)
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return all
}

// roleSetting is the check of SET ROLE and SET SESSION AUTHORIZATION: users have no roles but themselves.
func (s *Session) roleSetting(key, value string) (string, error) {
	if value == s.options.User || key == "role" && value == "none" {
		return value, nil
	}
	if s.seen().UserNamed(value) == nil {
		return "", failure("22023", "role \"%s\" does not exist", value)
	}
	return "", &tailrace.Error{Code: "42501", Message: fmt.Sprintf("permission denied to set role \"%s\"", value), Hint: "Connect as that user."}
}

// zoneInterval is the value of SET TIME ZONE INTERVAL '...': hours east of UTC, as TimeZone takes a number. ok is false when n is no interval.
func (s *Session) zoneInterval(n *pg_query.Node) (hours string, ok bool, err error) {
	cast := n.GetTypeCast()
	if _, name := lastTwo(cast.GetTypeName().GetNames()); cast == nil || name != "interval" {
		return "", false, nil
	}
	c := tailrace.MakeColumn(tailrace.KindInterval, 1)
	if err := format.ParseText(&c, tailrace.TypeOf(tailrace.KindInterval), optionText(cast.Arg), s.format); err != nil {
		return "", true, err
	}
	raw := c.Bytes(0)
	what := ""
	switch {
	case binary.LittleEndian.Uint32(raw) != 0:
		what = "months"
	case binary.LittleEndian.Uint32(raw[4:]) != 0:
		what = "days"
	}
	if what != "" {
		return "", true, &tailrace.Error{
			Code: "22023", Message: fmt.Sprintf("invalid value for parameter \"TimeZone\": \"INTERVAL '%s'\"", format.AppendText(nil, tailrace.TypeOf(tailrace.KindInterval), &c, 0, format.Default())), Detail: fmt.Sprintf("Cannot specify %s in time zone interval.", what),
		}
	}
	return strconv.FormatFloat(float64(int64(binary.LittleEndian.Uint64(raw[8:])))/3.6e9, 'f', -1, 64), true, nil
}
