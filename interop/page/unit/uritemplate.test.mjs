import assert from "node:assert/strict";
import { test } from "node:test";

import { expand, parse, TemplateError } from "../../../cmd/parley/internal/page/static/lib/uritemplate.js";

// The variables and expansions of RFC 6570, section 3.2, apart from associative arrays, which
// a form has no field for.
const values = new Map(Object.entries({
  count: ["one", "two", "three"], dom: ["example", "com"], dub: "me/too", hello: "Hello World!", half: "50%", var: "value", who: "fred",
  base: "http://example.com/home/", path: "/foo/bar", list: ["red", "green", "blue"], v: "6", x: "1024", y: "768", empty: "", empty_list: [],
}));
const expansions = {
  "{count}": "one,two,three", "{count*}": "one,two,three", "{/count}": "/one,two,three", "{/count*}": "/one/two/three",
  "{;count}": ";count=one,two,three", "{;count*}": ";count=one;count=two;count=three", "{?count}": "?count=one,two,three",
  "{?count*}": "?count=one&count=two&count=three", "{&count*}": "&count=one&count=two&count=three",
  "{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX", "{x,y}": "1024,768",
  "{x,hello,y}": "1024,Hello%20World%21,768", "?{x,empty}": "?1024,", "?{x,undef}": "?1024", "?{undef,y}": "?768",
  "{var:3}": "val", "{var:30}": "value", "{list}": "red,green,blue", "{list*}": "red,green,blue",
  "{+var}": "value", "{+hello}": "Hello%20World!", "{+half}": "50%25", "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex",
  "{+base}index": "http://example.com/home/index", "O{+empty}X": "OX", "{+path}/here": "/foo/bar/here", "here?ref={+path}": "here?ref=/foo/bar",
  "up{+path}{var}/here": "up/foo/barvalue/here", "{+x,hello,y}": "1024,Hello%20World!,768", "{+path,x}/here": "/foo/bar,1024/here",
  "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue", "{#var}": "#value", "{#hello}": "#Hello%20World!", "{#half}": "#50%25",
  "foo{#empty}": "foo#", "foo{#undef}": "foo", "{#path:6}/here": "#/foo/b/here", "{.who}": ".fred", "{.who,who}": ".fred.fred", "{.half,who}": ".50%25.fred",
  "www{.dom*}": "www.example.com", "X{.empty}": "X.", "X{.undef}": "X", "X{.list}": "X.red,green,blue", "X{.list*}": "X.red.green.blue", "X{.empty_list}": "X",
  "{/who}": "/fred", "{/half,who}": "/50%25/fred", "{/who,dub}": "/fred/me%2Ftoo", "{/var,empty}": "/value/", "{/var,undef}": "/value", "{/var,x}/here": "/value/1024/here",
  "{/var:1,var}": "/v/value", "{/list*,path:4}": "/red/green/blue/%2Ffoo", "{;who}": ";who=fred", "{;half}": ";half=50%25", "{;empty}": ";empty",
  "{;v,empty,who}": ";v=6;empty;who=fred", "{;v,undef,who}": ";v=6;who=fred", "{;hello:5}": ";hello=Hello", "{;list}": ";list=red,green,blue",
  "{?who}": "?who=fred", "{?x,y,empty}": "?x=1024&y=768&empty=", "{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val", "{?list*}": "?list=red&list=green&list=blue",
  "{&who}": "&who=fred", "?fixed=yes{&x}": "?fixed=yes&x=1024", "{&x,y,empty}": "&x=1024&y=768&empty=",
};

for (const [template, want] of Object.entries(expansions)) {
  test(`${template} becomes ${want}`, () => assert.equal(expand(parse(template), values), want));
}

test("text beyond ASCII is encoded, and cut between characters", () => {
  assert.equal(expand(parse("ä{v:1}%20"), new Map([["v", "😀x"]])), "%C3%A4%F0%9F%98%80%20");
});

test("names come in order, each once, and lists are known", () => {
  const { names, lists } = parse("a://{x}/{y*}{?x,z}");
  assert.deepEqual([names, [...lists]], [["x", "y", "z"], ["y"]]);
});

test("a name of every object is a variable like any other", () => {
  assert.equal(expand(parse("a:{constructor}{?__proto__}"), new Map([["__proto__", "p"]])), "a:?__proto__=p");
});

for (const bad of ["{", "a}", "{}", "{a b}", "{=a}", "{|a}", "{a:0}", "{a:10000}", "{a,}", "{{a}}", `{${"a,".repeat(300)}a}x`.repeat(20)]) {
  test(`${bad.slice(0, 20)} is refused`, () => assert.throws(() => parse(bad), TemplateError));
}
