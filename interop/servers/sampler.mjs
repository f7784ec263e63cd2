// Stands in for a language model: `parley call --sampler` runs it with the
// sampling request on standard input and takes what it prints as the answer.
// Repeating the question proves that the whole request arrived here.

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const request = JSON.parse(Buffer.concat(chunks).toString("utf8"));
const { messages } = request.params ?? request;
const last = messages.at(-1);
const blocks = Array.isArray(last.content) ? last.content : [last.content];
const question = blocks.map((block) => block.text ?? "").join(" ");
process.stdout.write(`You asked: ${question}\n`);
