//! Checks `parley serve` against what lib/reference.mjs says of it.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceError,
    model::*,
    service::{
        ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
    },
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Map, Value, json};
use tokio::{process::Command, time::timeout};

use crate::Failure;

const LIMIT: Duration = Duration::from_secs(60);

pub async fn run(way: &str, expected: Value) -> Result<(), Failure> {
    let handler = Handler { expected, heard: Arc::default() };
    let mut peer = None;
    check("connect", async {
        peer = Some(Peer::connect(way, handler).await?);
        Ok(())
    })
    .await;
    let Some(mut peer) = peer else { return Ok(()) };
    check("list", peer.list()).await;
    check("call", peer.call()).await;
    check("structured", peer.structured()).await;
    check("wrong args", peer.wrong_arguments()).await;
    check("roots", peer.roots()).await;
    check("elicit", peer.elicit()).await;
    check("sample", peer.sample()).await;
    check("progress", peer.progress()).await;
    check("cancel", peer.cancel()).await;
    check("subscribe", peer.subscribe()).await;
    check("ping", peer.ping()).await;
    check("end", async { must(peer.client.close_with_timeout(LIMIT).await?.is_some(), "it did not close in time") })
        .await;
    Ok(())
}

pub async fn check(column: &str, run: impl Future<Output = Result<(), Failure>>) {
    let line = match timeout(LIMIT, run).await {
        Ok(Ok(())) => json!({"column": column, "passed": true}),
        Ok(Err(error)) => json!({"column": column, "passed": false, "text": format!("{error} {error:?}")}),
        Err(_) => json!({"column": column, "passed": false, "text": "no outcome in time"}),
    };
    println!("{line}");
}

#[derive(Default)]
struct Heard {
    questions: Vec<String>,
    prompts: String,
    progress: Vec<f64>,
    updates: usize,
}

#[derive(Clone)]
struct Handler {
    expected: Value,
    heard: Arc<Mutex<Heard>>,
}

impl Handler {
    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().expect("nobody panics with it")
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().enable_sampling().enable_roots().build();
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = json!(request);
        self.heard().questions.push(request["message"].to_string());
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(fill(&request["requestedSchema"])))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.heard().prompts.push_str(&json!(request.messages).to_string());
        let answer = json!({
            "role": "assistant",
            "content": {"type": "text", "text": self.expected["sampling"]["answer"]},
            "model": "parley-interop-model",
            "stopReason": "endTurn",
        });
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let answer = json!({"roots": [{"uri": self.expected["root"], "name": "inside"}]});
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard().progress.push(params.progress);
    }

    async fn on_resource_updated(&self, _: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard().updates += 1;
    }
}

struct Peer {
    client: RunningService<RoleClient, Handler>,
    handler: Handler,
    modern: bool,
}

impl Peer {
    async fn connect(way: &str, handler: Handler) -> Result<Self, Failure> {
        let expected = &handler.expected;
        let modern = text(expected, "/revision") == "2026-07-28";
        let lifecycle = if modern {
            let preferred_versions = vec![ProtocolVersion::LATEST];
            ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }
        } else {
            ClientLifecycleMode::Initialize
        };
        let client = if way == "http" {
            let url = format!("{}/mcp", text(expected, "/origin"));
            let transport = StreamableHttpClientTransport::from_uri(url);
            handler.clone().serve_with_lifecycle(transport, lifecycle).await?
        } else {
            let mut command = Command::new(text(expected, "/parley"));
            command.args(expected["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
            handler.clone().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        };
        let server = client.peer_info().ok_or("nothing is known of the server")?;
        equal(&json!(server.protocol_version), &expected["revision"])?;
        Ok(Self { client, handler, modern })
    }

    fn expected(&self, pointer: &str) -> String {
        text(&self.handler.expected, pointer)
    }

    fn request(&self, tool: &str, arguments: &str) -> CallToolRequestParams {
        let arguments = self.handler.expected.pointer(&format!("/{tool}/{arguments}"));
        CallToolRequestParams::new(self.expected(&format!("/{tool}/name")))
            .with_arguments(arguments.and_then(Value::as_object).cloned().unwrap_or_default())
    }

    async fn run(&self, tool: &str) -> Result<CallToolResult, ServiceError> {
        self.client.call_tool(self.request(tool, "arguments")).await
    }

    async fn list(&self) -> Result<(), Failure> {
        let tools = json!(self.client.list_all_tools().await?).to_string();
        for tool in ["calculate", "paced", "checkout", "sampling", "roots", "structured"] {
            includes(&tools, &format!("\"{}\"", self.expected(&format!("/{tool}/name"))))?;
        }
        let uri = self.expected("/resource/uri");
        includes(&json!(self.client.list_all_resources().await?).to_string(), &uri)?;
        must(!self.client.list_all_resource_templates().await?.is_empty(), "no templates")?;
        let prompt = self.expected("/prompt/name");
        includes(&json!(self.client.list_all_prompts().await?).to_string(), &prompt)?;
        must(
            !self.client.read_resource(ReadResourceRequestParams::new(uri)).await?.contents.is_empty(),
            "no contents",
        )?;
        let request: GetPromptRequestParams = serde_json::from_value(self.handler.expected["prompt"].clone())?;
        must(!self.client.get_prompt(request).await?.messages.is_empty(), "no messages")
    }

    async fn call(&self) -> Result<(), Failure> {
        equal(&json!(said(&self.run("calculate").await?)), &json!(self.expected("/calculate/text")))
    }

    async fn structured(&self) -> Result<(), Failure> {
        let content = self.run("structured").await?.structured_content.ok_or("no structured content")?;
        equal(&content[self.expected("/structured/member")], &json!(self.expected("/structured/value")))
    }

    async fn wrong_arguments(&self) -> Result<(), Failure> {
        let result = self.client.call_tool(self.request("calculate", "wrongArguments")).await?;
        must(result.is_error == Some(true), "not a failed result")?;
        includes(&said(&result), &self.expected("/calculate/missing"))
    }

    async fn roots(&self) -> Result<(), Failure> {
        let found = said(&self.run("roots").await?);
        includes(&found, &self.expected("/roots/inside"))?;
        must(!found.contains(&self.expected("/roots/outside")), "found outside of the roots")
    }

    async fn elicit(&self) -> Result<(), Failure> {
        let result = self.run("checkout").await?;
        must(result.is_error != Some(true), &said(&result))?;
        let questions = self.handler.heard().questions.len();
        equal(&json!(questions), &self.handler.expected["checkout"]["questions"])
    }

    async fn sample(&self) -> Result<(), Failure> {
        let result = self.run("sampling").await?;
        includes(&self.handler.heard().prompts, &self.expected("/sampling/prompt"))?;
        includes(&said(&result), &self.expected("/sampling/answer"))
    }

    async fn progress(&self) -> Result<(), Failure> {
        self.handler.heard().progress.clear();
        self.run("paced").await?;
        let steps = self.handler.expected["paced"]["arguments"]["steps"].as_u64().unwrap_or(0);
        let whole = || self.handler.heard().progress.len() as u64 == steps;
        until(whole).await;
        let progress = self.handler.heard().progress.clone();
        must(whole() && progress.is_sorted_by(|a, b| a < b), &format!("progress: {progress:?}"))
    }

    async fn cancel(&self) -> Result<(), Failure> {
        let before = self.cancelled().await?;
        self.handler.heard().progress.clear();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(self.request("slow", "arguments")));
        let call = self.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        until(|| !self.handler.heard().progress.is_empty()).await;
        call.cancel(Some("enough".into())).await?;
        while self.cancelled().await? == before {
            tokio::time::sleep(Duration::from_millis(20)).await; // the check has a limit
        }
        tokio::time::sleep(Duration::from_millis(100)).await; // what was in flight
        let heard = self.handler.heard().progress.len();
        tokio::time::sleep(Duration::from_millis(300)).await;
        must(self.handler.heard().progress.len() == heard, "the tool goes on")
    }

    /// Counts the cancelled calls in the server's log. Clients that run at the same time must not cancel.
    async fn cancelled(&self) -> Result<usize, Failure> {
        let request = ReadResourceRequestParams::new(self.expected("/log/uri"));
        let log = json!(self.client.read_resource(request).await?.contents);
        Ok(log[0]["text"].as_str().unwrap_or_default().lines().filter(|line| line.ends_with(": cancelled")).count())
    }

    async fn subscribe(&self) -> Result<(), Failure> {
        let uri = self.expected("/change/uri");
        if self.modern {
            let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
            let mut subscription = self.client.listen(filter).await?;
            self.run("change").await?;
            let heard = subscription.next().await?;
            must(matches!(heard, Some(ServerNotification::ResourceUpdatedNotification(_))), &format!("{heard:?}"))?;
            return Ok(subscription.cancel().await?);
        }
        self.client.subscribe(SubscribeRequestParams::new(uri.clone())).await?;
        self.run("change").await?;
        until(|| self.handler.heard().updates > 0).await;
        Ok(self.client.unsubscribe(UnsubscribeRequestParams::new(uri)).await?)
    }

    async fn ping(&self) -> Result<(), Failure> {
        if self.modern {
            self.client.list_tools(None).await?; // this revision has no ping
            return Ok(());
        }
        self.client.send_request(ClientRequest::PingRequest(PingRequest::default())).await?;
        Ok(())
    }
}

/// Fills a form the way a willing user would.
fn fill(schema: &Value) -> Value {
    let mut answers = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let answer = match field["type"].as_str() {
            _ if field["oneOf"].is_array() => field["oneOf"][0]["const"].clone(),
            _ if field["enum"].is_array() => field["enum"][0].clone(),
            Some("boolean") => json!(true),
            Some("string") if field["format"] == "email" => json!("ada@example.com"),
            Some("string") => json!("Ada Lovelace"),
            _ => json!(1),
        };
        answers.insert(name.clone(), answer);
    }
    Value::Object(answers)
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub fn said(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

pub fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub fn must(condition: bool, message: &str) -> Result<(), Failure> {
    if condition { Ok(()) } else { Err(message.into()) }
}

pub fn equal(actual: &Value, expected: &Value) -> Result<(), Failure> {
    must(actual == expected, &format!("expected {expected}, got {actual}"))
}

pub fn includes(whole: &str, part: &str) -> Result<(), Failure> {
    must(whole.contains(part), &format!("{part} is missing in {whole:.500}"))
}
