// Package static has the pages: ES modules and style sheets, and Pack, which makes one file of each
// kind of them. What is not ours is in vendor, with its licences.
package static

import "embed"

// files are the sources of the pages. page.html is what all of them begin with, and the folder NAME of
// each has main.js, which imports everything that runs, and page.css, which imports every style sheet.
//
//go:embed *.html *.css *.svg vendor lib inspect console
var files embed.FS
