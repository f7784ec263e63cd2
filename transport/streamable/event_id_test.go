package streamable

import "testing"

// An event ID that is read is one that this server could have written.
func FuzzEventID(f *testing.F) {
	for _, s := range []string{"0_0", "17_4", "0_18446744073709551615", "0_18446744073709551616", "_1", "a_", "1_2_3", "0_-1", "0_+1", "0_01", "٣_1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name, seq, err := parseEventID(id)
		if err != nil {
			return
		}
		if again, n, err := parseEventID((&stream{id: name}).eventID(seq)); err != nil || again != name || n != seq {
			t.Fatalf("%q is event %d of %q, and then %d of %q (%v)", id, seq, name, n, again, err)
		}
	})
}
