package reference

import (
	"context"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type codeReviewArgs struct {
	Code     string `json:"code" title:"Code" description:"The code to review"`
	Language string `json:"language,omitempty" title:"Language" description:"Its programming language, for example \"go\""`
	Focus    string `json:"focus,omitempty" title:"Focus" description:"What to look at above all, for example \"security\""`
}

func (r *reference) addCodeReview() {
	server.AddPrompt(r.srv, mcp.Prompt{
		Name:        "code_review",
		Title:       "Code review",
		Description: "Asks for a review of a piece of code",
	}, codeReview)
	r.srv.CompletePrompt("code_review", "language", server.CompleteFrom(
		"c", "cpp", "csharp", "dart", "elixir", "go", "haskell", "java", "javascript", "kotlin", "lua", "perl", "php",
		"python", "r", "ruby", "rust", "scala", "shell", "sql", "swift", "typescript", "zig"))
	r.srv.CompletePrompt("code_review", "focus", server.CompleteFrom(
		"concurrency", "correctness", "error handling", "maintainability", "performance", "readability", "security", "tests"))
}

func codeReview(_ context.Context, _ *server.Call, args codeReviewArgs) (*mcp.GetPromptResult, error) {
	if strings.TrimSpace(args.Code) == "" {
		return nil, mcp.InvalidParams("argument %q is empty; pass the code to review", "code")
	}
	what := "code"
	if args.Language != "" {
		what = args.Language + " code"
	}
	focus := ""
	if args.Focus != "" {
		focus = " Look at " + args.Focus + " above all."
	}
	fence := fenceFor(args.Code)
	text := fmt.Sprintf("Please review the following %s.%s Name each problem with its line, say why it is one, and show how to solve it, the most serious first.\n\n%s%s\n%s\n%s",
		what, focus, fence, args.Language, strings.TrimSuffix(args.Code, "\n"), fence)
	return &mcp.GetPromptResult{
		Description: "Review of " + what,
		Messages:    []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))},
	}, nil
}

// fenceFor returns a Markdown fence that the code cannot close.
func fenceFor(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence
}
