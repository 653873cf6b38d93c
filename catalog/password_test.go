package catalog

import (
	"bytes"
	"testing"

	"github.com/xdg-go/scram"
)

// TestVerifierLetsItsPasswordIn: a user made of another's verifier logs in with the same password, and no other.
func TestVerifierLetsItsPasswordIn(t *testing.T) {
	ann, err := NewUser("ann", "pass wörd")
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewUser("ann", ann.Verifier())
	if err != nil || !bytes.Equal(again.StoredKey, ann.StoredKey) || !bytes.Equal(again.ServerKey, ann.ServerKey) || !bytes.Equal(again.Salt, ann.Salt) {
		t.Fatalf("user of a verifier: got %+v, %v, want %+v", again, err, ann)
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(again.Salt), Iters: again.Iterations}, StoredKey: again.StoredKey, ServerKey: again.ServerKey,
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"pass wörd": true, "password": false, ann.Verifier(): false} {
		client, err := scram.SHA256.NewClient("ann", password, "")
		if err != nil {
			t.Fatal(err)
		}
		c, s := client.NewConversation(), server.NewConversation()
		message := ""
		for !c.Done() && err == nil {
			if message, err = c.Step(message); err == nil && !c.Done() {
				message, err = s.Step(message)
			}
		}
		if got := err == nil && s.Valid(); got != want {
			t.Errorf("password %q: got in %v (%v), want %v", password, got, err, want)
		}
	}
}

// FuzzNewUser: whatever looks like a verifier makes a user or is a password; it never panics, and a user has keys of the right length.
func FuzzNewUser(f *testing.F) {
	ann, err := NewUser("ann", "secret")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ann.Verifier())
	f.Add("SCRAM-SHA-256$")
	f.Add("SCRAM-SHA-256$1:AA==$AA==:AA==")
	f.Add("SCRAM-SHA-256$999999999999:AA==$AA==:AA==")
	f.Fuzz(func(t *testing.T, password string) {
		u, err := NewUser("ann", password)
		if err == nil && (len(u.StoredKey) != keyBytes || len(u.ServerKey) != keyBytes || u.Iterations < 1 || u.Iterations > maxIterations || len(u.Salt) == 0) {
			t.Errorf("password %q: got %+v", password, u)
		}
	})
}
