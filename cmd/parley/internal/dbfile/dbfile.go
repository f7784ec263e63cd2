// Package dbfile has what all SQLite files of the process have in common: one bound of
// their memory, and how their names are written. SQLite's settings of memory are the
// process's, and some can be chosen only before the first file is opened, so every
// file is opened through here.
package dbfile

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"modernc.org/libc"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// MaxHeap bounds, in bytes, what all queries of the process keep in memory
// together: pages, and what they sort, group and recurse over.
const MaxHeap = 64 << 20

// Prepare has SQLite count the memory that it uses, without which its limit has no
// effect. It must be called before a file is opened.
func Prepare() error { return prepared() }

var prepared = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := tls.Alloc(8)
	defer tls.Free(8)
	if code := lib.Xsqlite3_config(tls, lib.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1))); code != lib.SQLITE_OK {
		return fmt.Errorf("SQLite's memory cannot be bounded: %s", sqlite.ErrorCodeString[int(code)])
	}
	return nil
})

// Bounded are the parameters of Name that keep what a query needs besides the database in
// memory, and bound it. In files it would be bounded by the disk only. The bound is that
// of all files of the process together, and stays when the file is closed.
func Bounded() string {
	return "_pragma=temp_store(memory)&_pragma=hard_heap_limit(" + strconv.Itoa(MaxHeap) + ")"
}

// Name is the name of a file for the driver. parameters are those of its query
// string, such as "mode=ro&_pragma=query_only(1)".
func Name(file, parameters string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter of Windows
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: parameters}
	return u.String()
}
