package parse

// Backup is BACKUP TO 'folder'.
type Backup struct {
	To string // a folder on the server's machine
}

func (p *parser) backup() error {
	if err := p.expect("BACKUP", "TO"); err != nil {
		return err
	}
	to, err := p.str()
	if err != nil {
		return err
	}
	p.st.Backup = &Backup{To: to}
	return p.end()
}
