package pgwire

import "time"

// The limits of a connection, in bytes unless they say otherwise.
const (
	// InboxBytes is how much of what a client sends ahead is kept before its messages are read.
	InboxBytes = 64 << 10
	// StartupBytes is the largest message before a client is authenticated (PostgreSQL's MAX_STARTUP_PACKET_LENGTH).
	StartupBytes = 10_000
	// MessageBytes is the largest message of an authenticated client: a statement, a Bind, a piece of COPY data.
	MessageBytes = 64 << 20
	// LargeMessage is the size from which a message counts against the node's LargeMessages.
	LargeMessage = 1 << 20
	// LargeMessages is what large messages of all connections may take together while they are read and run, on a node without a budget.
	LargeMessages = 256 << 20
	// WriteBytes is how much is collected before it is written.
	WriteBytes = 128 << 10
	// LendBytes is from where on messages that many clients get are written from where they are, not copied first.
	LendBytes = 4 << 10
	// KeepBytes is the largest buffer that a connection keeps for its next message.
	KeepBytes = 256 << 10
	// SendBufferBytes is SO_SNDBUF: what the kernel keeps for a client that does not read.
	SendBufferBytes = 128 << 10
	// PreparedBytes is the text of the prepared statements that one session may hold.
	PreparedBytes = 32 << 20
	// PortalBytes is the parameters of the portals that one session may hold.
	PortalBytes = 128 << 20
	// ErrorBytes is the longest field of an ErrorResponse; a longer one is cut.
	ErrorBytes = 64 << 10
)

// The times of a connection.
const (
	// StartupTime is how long a client may take to authenticate.
	StartupTime = 60 * time.Second
	// DeadAfter is how long a peer's kernel may leave what was sent unacknowledged.
	DeadAfter = 60 * time.Second
	// KeepaliveIdle and KeepaliveEvery say when an idle peer's kernel is asked whether it still is there: 30 s, then each 10 s, three times.
	KeepaliveIdle  = 30 * time.Second
	KeepaliveEvery = 10 * time.Second
	KeepaliveCount = 3
	// GoneGrace is how long a statement may go on after its client closed the connection: long enough for "send it and leave".
	GoneGrace = 2 * time.Second
	// CloseGrace is how long a session gets to tell its client why it ends when the server can wait no longer.
	CloseGrace = time.Second
)

// DefaultConnections is how many sessions there may be at once.
const DefaultConnections = 10_000

// StartupConnections is how many connections there may be beyond that, to authenticate, to cancel, or to be told that there are too many.
const StartupConnections = 256
