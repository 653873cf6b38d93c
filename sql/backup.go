package sql

import (
	"context"

	"tailrace"
	"tailrace/parse"
)

// StartBackup begins a backup of everything, as of now, in a folder on the server's machine.
type StartBackup func(ctx context.Context, to string) (Backup, error)

// Backup is one that is being made: the hook to the server, which this package cannot import.
type Backup interface {
	// Next does a piece of the work and tells how far it is; io.EOF once the backup is complete and durable.
	Next(ctx context.Context) (BackupProgress, error)
	// Close gives up what it holds, and the backup if it is not complete. It may be called twice.
	Close() error
}

// BackupProgress is a row of BACKUP's result.
type BackupProgress struct {
	Time            tailrace.Time // the rows are those of this time
	Parts, AllParts int64
	Bytes, AllBytes int64 // of parts
}

// backup runs BACKUP TO 'folder'. Its rows tell how far it is; they are made as the client reads them, the command tag after the last: then the backup
// is complete. Who may log in may do it: every user is a superuser.
func (s *Session) backup(ctx context.Context, b *parse.Backup) (*Result, error) {
	switch {
	case s.state == open:
		return nil, failure("25001", "BACKUP cannot run inside a transaction block")
	case s.engine.Backup == nil:
		return nil, s.unsupported("BACKUP on this server", "")
	}
	work, err := s.engine.Backup(ctx, b.To)
	if err != nil {
		return nil, err
	}
	r := rowsOf("BACKUP", backupColumns(), &backupRows{work})
	r.tag = func(int64) string { return "BACKUP" }
	r.Streaming = true
	return r, nil
}

// backupColumns are as_of, a time for SELECT ... AS OF, and counts.
func backupColumns() []tailrace.ResultColumn {
	columns := []tailrace.ResultColumn{{Name: "as_of", Type: tailrace.TypeOf(tailrace.KindNumeric)}}
	for _, name := range []string{"parts", "all_parts", "bytes", "all_bytes"} {
		columns = append(columns, tailrace.ResultColumn{Name: name, Type: tailrace.TypeOf(tailrace.KindInt8)})
	}
	return columns
}

// backupRows is a backup as rows.
type backupRows struct{ Backup }

// Next implements tailrace.Rows.
func (r *backupRows) Next(ctx context.Context) (*tailrace.Batch, error) {
	p, err := r.Backup.Next(ctx)
	if err != nil {
		return nil, err
	}
	b := &tailrace.Batch{N: 1}
	at := tailrace.MakeColumn(tailrace.KindNumeric, 1)
	at.Append(tailrace.AppendDecimal64(nil, int64(p.Time), 0))
	b.Cols = append(b.Cols, at)
	for _, v := range []int64{p.Parts, p.AllParts, p.Bytes, p.AllBytes} {
		c := tailrace.MakeColumn(tailrace.KindInt8, 1)
		c.AppendInt64(v)
		b.Cols = append(b.Cols, c)
	}
	return b, nil
}
