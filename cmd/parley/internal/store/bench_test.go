package store_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/server/taskstore"
)

// BenchmarkWrites measures changes, each of which waits for the disk, of several at once.
func BenchmarkWrites(b *testing.B) {
	s := open(b, fresh(b))
	var tasks atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		r := create(b, s, fmt.Sprintf("t%d", tasks.Add(1)), make([]byte, 500))
		for pb.Next() {
			var err error
			if r.Version, err = s.Save(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// BenchmarkCreate measures how tasks are added up to the quota of a server, and what
// each takes on the disk with two entries in its journal.
func BenchmarkCreate(b *testing.B) {
	file := fresh(b)
	s := open(b, file)
	quota := taskstore.Quota{PerOwner: 1000, Total: b.N + 1}
	for i := range b.N {
		id := fmt.Sprintf("%032d", i)
		if _, err := s.Create(b.Context(), taskstore.Record{ID: id, Owner: fmt.Sprint(i / 500), Created: start, Lease: start, Data: make([]byte, 500)}, quota); err != nil {
			b.Fatal(err)
		}
		for _, key := range []string{"a", "b"} {
			if err := s.Append(b.Context(), id, key, make([]byte, 50)); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := s.Exec(b.Context(), "PRAGMA wal_checkpoint(truncate)"); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(b.N), "disk-B/task")
}

// BenchmarkLoad measures reading one of many tasks.
func BenchmarkLoad(b *testing.B) {
	s := open(b, fresh(b))
	for i := range 100 {
		create(b, s, fmt.Sprintf("t%d", i), make([]byte, 500))
	}
	b.ResetTimer()
	for i := range b.N {
		if _, err := s.Load(b.Context(), fmt.Sprintf("t%d", i%100)); err != nil {
			b.Fatal(err)
		}
	}
}
