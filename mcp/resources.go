package mcp

// Resource describes data that a client can read.
//
// Spec: 2026-07-28 server/resources#resource.
type Resource struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitzero"`
	Description string       `json:"description,omitzero"`
	MIMEType    string       `json:"mimeType,omitzero"`
	Size        *int64       `json:"size,omitzero"` // bytes
	Icons       []Icon       `json:"icons,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ResourceTemplate describes a family of resources by an RFC 6570 template.
//
// Spec: 2026-07-28 server/resources#resource-templates.
type ResourceTemplate struct {
	URITemplate string       `json:"uriTemplate"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitzero"`
	Description string       `json:"description,omitzero"`
	MIMEType    string       `json:"mimeType,omitzero"`
	Icons       []Icon       `json:"icons,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ResourceContents is the content of one resource: text, or bytes when Blob
// is not nil.
//
// Spec: 2026-07-28 server/resources#resource-contents.
type ResourceContents struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitzero"`
	Text     *string `json:"text,omitzero"`
	Blob     []byte  `json:"blob,omitzero"`
	Meta     Meta    `json:"_meta,omitzero"`
}

// TextResource returns contents that are text.
func TextResource(uri, mimeType, text string) *ResourceContents {
	return &ResourceContents{URI: uri, MIMEType: mimeType, Text: &text}
}

// BlobResource returns contents that are bytes.
func BlobResource(uri, mimeType string, blob []byte) *ResourceContents {
	if blob == nil {
		blob = []byte{}
	}
	return &ResourceContents{URI: uri, MIMEType: mimeType, Blob: blob}
}

// ListResourcesResult is a page of resources.
type ListResourcesResult struct {
	ResultFields
	CacheFields
	Resources  []*Resource `json:"resources"`
	NextCursor *string     `json:"nextCursor,omitzero"`

	encodedEntries `json:"-"`
}

// ListResourceTemplatesResult is a page of templates.
type ListResourceTemplatesResult struct {
	ResultFields
	CacheFields
	ResourceTemplates []*ResourceTemplate `json:"resourceTemplates"`
	NextCursor        *string             `json:"nextCursor,omitzero"`

	encodedEntries `json:"-"`
}

// ReadResourceParams names the resource to read.
type ReadResourceParams struct {
	URI string `json:"uri"`
}

// ReadResourceResult is the content of a resource; one URI may stand for
// several.
//
// Spec: 2026-07-28 server/resources#reading-resources.
type ReadResourceResult struct {
	ResultFields
	CacheFields
	Contents []*ResourceContents `json:"contents"`
}

// SubscribeParams names a resource to watch, or to stop watching (sessions).
//
// Spec: 2025-11-25 server/resources#subscriptions.
type SubscribeParams struct {
	URI string `json:"uri"`
}

// ResourceUpdatedParams says that a watched resource changed.
type ResourceUpdatedParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri"`
}
