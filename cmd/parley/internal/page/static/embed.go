// Package static has the files of the pages: ES modules that run as they are, without a
// bundler. What is not ours is in vendor, with its licences.
package static

import "embed"

// Files are the pages: index.html is that of parley inspect.
//
//go:embed *.html *.css *.svg vendor lib inspect console
var Files embed.FS
