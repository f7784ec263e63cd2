package revision

import "github.com/parley-mcp/parley/mcp"

// Each revision is the previous one with its changelog applied, so that each
// difference is written in one place.
var table = func() []*Facts {
	v2024 := Facts{
		Revision:         mcp.Revision20241105,
		methods:          first,
		RootsListChanged: true,
		ResourceNotFound: mcp.CodeResourceNotFoundOld,
	}

	// Spec: 2025-03-26 changelog.
	march := v2024
	march.Revision = mcp.Revision20250326
	march.StreamableHTTP = true
	march.Batches = true
	march.Audio = true
	march.ToolAnnotations = true
	march.ProgressMessage = true
	march.Completions = true

	// Spec: 2025-06-18 changelog.
	june := march
	june.Revision = mcp.Revision20250618
	june.Batches = false
	june.StructuredContent = true
	june.Elicitation = true
	june.ResourceLinks = true
	june.Titles = true
	june.ResourceMetadata = true
	june.MetaOnTypes = true
	june.LastModified = true
	june.CompletionContext = true
	june.methods = march.methods.changed([]string{mcp.MethodElicit}, nil)

	// Spec: 2025-11-25 changelog.
	november := june
	november.Revision = mcp.Revision20251125
	november.Icons = true
	november.ImplementationDetails = true
	november.ElicitURL = true
	november.ElicitationID = true
	november.RichForms = true
	november.SamplingTools = true
	november.ErrorWithoutID = true
	november.Tasks = true
	november.Polling = true
	november.methods = june.methods.changed([]string{
		mcp.NoteElicitationComplete,
		mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodListTasks, mcp.MethodCancelTask, mcp.NoteTaskStatus,
	}, nil)

	// Spec: 2026-07-28 changelog.
	july := november
	july.Revision = mcp.Revision20260728
	july.Stateless = true
	july.ElicitationID = false
	july.Tasks = false
	july.Polling = false
	july.RootsListChanged = false
	july.AnyStructuredContent = true
	july.EmptyCursors = true
	july.Extensions = true
	july.Deprecated = []string{"logging", "roots", "sampling"}
	july.ResourceNotFound = -32602
	july.methods = november.methods.changed(
		[]string{
			mcp.MethodDiscover, mcp.MethodListen, mcp.NoteAcknowledged,
			mcp.MethodListSkills, mcp.MethodGetSkill, mcp.MethodReadDirectory,
			mcp.MethodUpdateTask, mcp.NoteTask,
		},
		[]string{
			mcp.MethodInitialize, mcp.NoteInitialized, mcp.MethodPing, mcp.MethodSetLevel,
			mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.NoteRootsChanged, mcp.NoteElicitationComplete,
			mcp.MethodTaskResult, mcp.MethodListTasks, mcp.NoteTaskStatus,
		})

	return []*Facts{&v2024, &march, &june, &november, &july}
}()
