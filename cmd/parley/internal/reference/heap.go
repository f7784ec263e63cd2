package reference

import (
	"fmt"
	"strconv"
	"sync"

	"modernc.org/libc"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// maxHeap bounds, in bytes, what all queries of the process keep in memory
// together: pages, and what they sort, group and recurse over.
const maxHeap = 64 << 20

// accounted has SQLite count the memory that it uses, without which its limit
// has no effect. That can be chosen only before the first database is opened.
var accounted = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := tls.Alloc(8)
	defer tls.Free(8)
	if code := lib.Xsqlite3_config(tls, lib.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1))); code != lib.SQLITE_OK {
		return fmt.Errorf("SQLite's memory cannot be bounded: %s", sqlite.ErrorCodeString[int(code)])
	}
	return nil
})

// bounded are the pragmas that keep what a query needs besides the database in
// memory, and bound it. In files it would be bounded by the disk only.
func bounded() string {
	return "_pragma=temp_store(memory)&_pragma=hard_heap_limit(" + strconv.Itoa(maxHeap) + ")"
}
