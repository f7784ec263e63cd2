package challenge_test

import (
	"reflect"
	"testing"

	"github.com/parley-mcp/parley/internal/challenge"
)

func TestParse(t *testing.T) {
	bearer := func(params ...challenge.Param) challenge.Challenge {
		return challenge.Challenge{Scheme: "Bearer", Params: params}
	}
	for name, tt := range map[string]struct {
		values []string
		want   []challenge.Challenge
	}{
		"nothing":       {nil, nil},
		"empty":         {[]string{" , "}, nil},
		"scheme alone":  {[]string{"Bearer"}, []challenge.Challenge{bearer()}},
		"quoted":        {[]string{`Bearer resource_metadata="https://a/b?c,d", scope="x y"`}, []challenge.Challenge{bearer(challenge.Param{"resource_metadata", "https://a/b?c,d"}, challenge.Param{"scope", "x y"})}},
		"escaped":       {[]string{`Bearer realm="a\"b\\"`}, []challenge.Challenge{bearer(challenge.Param{"realm", `a"b\`})}},
		"no quotes":     {[]string{`Bearer resource_metadata=https://a/b,error=invalid_token`}, []challenge.Challenge{bearer(challenge.Param{"resource_metadata", "https://a/b"}, challenge.Param{"error", "invalid_token"})}},
		"spaces":        {[]string{"Bearer  realm = \"x\" ,\t scope = y"}, []challenge.Challenge{bearer(challenge.Param{"realm", "x"}, challenge.Param{"scope", "y"})}},
		"several":       {[]string{`Basic realm="a", Bearer scope="b", DPoP algs="ES256"`}, []challenge.Challenge{{"Basic", []challenge.Param{{"realm", "a"}}}, bearer(challenge.Param{"scope", "b"}), {"DPoP", []challenge.Param{{"algs", "ES256"}}}}},
		"two values":    {[]string{"Negotiate", `Bearer scope="b"`}, []challenge.Challenge{{Scheme: "Negotiate"}, bearer(challenge.Param{"scope", "b"})}},
		"token68":       {[]string{`Negotiate YWJj/ZA==, Bearer scope="b"`}, []challenge.Challenge{{Scheme: "Negotiate"}, bearer(challenge.Param{"scope", "b"})}},
		"no parameters": {[]string{`Bearer, Basic realm="x"`}, []challenge.Challenge{bearer(), {"Basic", []challenge.Param{{"realm", "x"}}}}},
		"unterminated":  {[]string{`Bearer scope="a", realm="b`}, []challenge.Challenge{bearer(challenge.Param{"scope", "a"})}},
		"junk":          {[]string{`="x"`, `Bearer;x`}, nil},
	} {
		if got := challenge.Parse(tt.values); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestGet(t *testing.T) {
	c := challenge.Challenge{Scheme: "bearer"}.With("Scope", "a").With("error", "").With("scope", "b")
	if !c.Is("Bearer") || c.Get("SCOPE") != "a" || len(c.Params) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestHeaderHasNoControls(t *testing.T) {
	got := challenge.Challenge{Scheme: "Bearer"}.With("error_description", "a\r\nSet-Cookie: \"x\"\u00e9").String()
	if want := `Bearer error_description="a??Set-Cookie: \"x\"?"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A challenge that is written and read again is the same.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{`Bearer a="b"`, `Bearer a=b, c="d,e"`, `Basic, Digest x="\""`, `N abc==, B z=1`, `a b/c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, c := range challenge.Parse([]string{value}) {
			for _, p := range c.Params {
				for _, r := range p.Value {
					if r < ' ' || r > '~' {
						t.Skip("not a header that can be written")
					}
				}
			}
			again := challenge.Parse([]string{c.String()})
			if len(again) != 1 || !reflect.DeepEqual(again[0], c) {
				t.Fatalf("%q: %+v became %+v", value, c, again)
			}
		}
	})
}
