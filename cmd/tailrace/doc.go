// Command tailrace is the one program: the server, and what a person types beside it.
//
//	tailrace demo                                        a server with a live table, to try; leaves nothing
//	tailrace serve --data DIR                            the server
//	tailrace attach postgres://user@host/db              follow a PostgreSQL's tables
//	tailrace user add NAME --data DIR | --url URL        who may log in
//	tailrace load FILE --table t                         copy a file into a table
//	tailrace export t --to DIR                           write a table to Parquet files, all of one time
//	tailrace inspect DIR                                 what a folder, a backup or a part holds, and whether it is whole
//	tailrace backup --url URL --to DIR                   everything as of one time
//	tailrace restore --from DIR --data NEW               a folder of it
//	tailrace sink create NAME --from TABLE --to URL      keep another database equal to tables here
//	tailrace redo apply --from DIR --to URL              a database as a changefeed's redo log tells
//	tailrace redo info --from DIR                        what a redo log has, and whether it is whole
//	tailrace bench base|start|lookup|load                measure it here
//
// Each command is a struct in a file of its own, with flags as fields and a Run method. What a command does is done by package server, or by
// SQL over the wire like any client: so load and export work with a server anywhere, and their files are those of whoever types.
package main
