package skill

import (
	"path"
	"strings"
	"unicode/utf8"
)

// mimeTypes are those of files that skills tend to have. The system's own table is not
// asked, so that a skill is the same on every machine.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".txt": "text/plain", ".csv": "text/csv", ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".js": "text/javascript", ".mjs": "text/javascript", ".ts": "text/x-typescript", ".py": "text/x-python", ".rb": "text/x-ruby",
	".go": "text/x-go", ".rs": "text/x-rust", ".java": "text/x-java", ".c": "text/x-c", ".h": "text/x-c", ".sql": "application/sql",
	".sh": "application/x-sh", ".bash": "application/x-sh", ".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".xml": "application/xml", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".ico": "image/vnd.microsoft.icon", ".pdf": "application/pdf", ".zip": "application/zip",
	".gz": "application/gzip", ".tar": "application/x-tar", ".wasm": "application/wasm", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4",
	".ttf": "font/ttf", ".otf": "font/otf", ".woff": "font/woff", ".woff2": "font/woff2",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// MIMEType returns the MIME type of a file, by the ending of its name or else by
// whether it is text; data is nil if that is not known, and then the type may be "".
//
// Spec: ext-skills/stable skills#resource-metadata.
func MIMEType(name string, data []byte) string {
	if known := mimeTypes[strings.ToLower(path.Ext(name))]; known != "" || data == nil {
		return known
	}
	if utf8.Valid(data) {
		return "text/plain"
	}
	return "application/octet-stream"
}
