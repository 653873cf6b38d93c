package bench

import (
	"strings"
	"testing"
	"time"
)

// TestStoppedClientMustHaveEveryRowInTheEnd: three rows, of which the last is committed long after the stall; one server goes away before it.
func TestStoppedClientMustHaveEveryRowInTheEnd(t *testing.T) {
	for _, last := range []string{"9999999999999999\tf\t1\t2\t10\txx\n", ""} {
		address := fakePostgres(t, func(c *fakeConn) {
			c.query()
			c.copies("10\tt\t\\N\t\\N\t\\N\n", "20\tf\t1\t0\t10\txx\n", "21\tf\t1\t1\t10\txx\n", "22\tt\t\\N\t\\N\t\\N\n")
			if last != "" {
				c.copies(last)
				c.query() // until the client goes
			}
		})
		slow := &slowClients{stall: time.Millisecond}
		if err := slow.follow(stormJob{Address: address, Statement: "SUBSCRIBE live", Live: 3, Every: 1}); err != nil {
			t.Fatal(err)
		}
		errs := slow.catchUp()
		if last != "" && (len(errs) != 0 || slow.caughtUp <= 0) {
			t.Errorf("got %v, caught up after %v; want no error and a time", errs, slow.caughtUp)
		}
		if last == "" && (len(errs) != 1 || !strings.Contains(errs[0], "after 2 of 3 rows") || slow.caughtUp != 0) {
			t.Errorf("got %v, caught up after %v; want an error that tells of a missing row", errs, slow.caughtUp)
		}
		slow.close()
	}
}
