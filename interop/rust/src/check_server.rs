//! A small server for `parley check` to judge. It listens at the port of the
//! environment's PORT, or at a free one.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    Failure,
    server::{parsed, said},
};

const NOTES: &str = "notes://today";
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

pub async fn run(way: &str) -> Result<(), Failure> {
    let notes = Arc::new(watch::Sender::new("nothing yet".to_owned()));
    if way == "stdio" {
        Server::new(notes).serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(Server::new(notes.clone())),
        Default::default(),
        // Without a list, every origin may ask.
        StreamableHttpServerConfig::default().with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*"]),
    );
    let port = std::env::var("PORT").unwrap_or("0".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

type Context = RequestContext<RoleServer>;

/// What belongs to one session; the notes belong to all.
#[derive(Clone)]
struct Server {
    notes: Arc<watch::Sender<String>>,
    level: Arc<AtomicUsize>,
    watched: Arc<AtomicBool>,
    waiting: Arc<Mutex<Option<tokio::task::JoinHandle<()>>>>,
}

impl Server {
    fn new(notes: Arc<watch::Sender<String>>) -> Self {
        Self { notes, level: Arc::default(), watched: Arc::default(), waiting: Arc::default() }
    }

    /// Asks the client: with a request in a session, and otherwise in the result of the call.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
        question: Value,
    ) -> Result<CallToolResponse, ErrorData> {
        let able = declared(context);
        let answers = if question["method"] == "elicitation/create" {
            able.elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
        } else {
            able.sampling.is_some()
        };
        if !answers {
            return Ok(failed("the client has nobody who answers that").into());
        }
        if stateless(context) {
            if let Some(answer) = request.input_responses.as_ref().and_then(|all| all.get("it")) {
                return Ok(said(json!(answer).to_string()).into());
            }
            let questions: InputRequests = parsed(json!({"it": question}))?;
            return Ok(InputRequiredResult::new(Some(questions), Some("asked".into())).into());
        }
        let failed = |error: rmcp::ServiceError| ErrorData::internal_error(error.to_string(), None);
        let answer = match parsed(question)? {
            InputRequest::Elicitation(q) => json!(context.peer.create_elicitation(q.params).await.map_err(failed)?),
            InputRequest::CreateMessage(q) => json!(context.peer.create_message(q.params).await.map_err(failed)?),
            _ => json!(context.peer.list_roots().await.map_err(failed)?),
        };
        Ok(said(answer.to_string()).into())
    }

    async fn count(&self, steps: u32, context: &Context) -> Result<CallToolResult, ErrorData> {
        for step in 1..=steps {
            tokio::select! {
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, step.into()).with_total(steps.into());
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        if self.wants_info(context) {
            let log = parsed(json!({"level": "info", "logger": "count", "data": {"counted": steps}}))?;
            let _ = context.peer.notify_logging_message(log).await;
        }
        Ok(said(format!("counted to {steps}")))
    }

    /// Whether the client wants logs of level info: said in its session, or in this request.
    fn wants_info(&self, context: &Context) -> bool {
        if !stateless(context) {
            return self.level.load(Ordering::Relaxed) <= 1;
        }
        let level = json!(context.meta)["io.modelcontextprotocol/logLevel"].clone();
        level == "debug" || level == "info"
    }
}

fn stateless(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// What the client says that it can do: with the request, or once for its session.
fn declared(context: &Context) -> ClientCapabilities {
    if stateless(context) {
        return context.meta.client_capabilities().unwrap_or_default();
    }
    context.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
}

fn number(arguments: &JsonObject, name: &str) -> Option<f64> {
    arguments.get(name).and_then(Value::as_f64)
}

fn failed(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        let capabilities = json!({
            "completions": {}, "logging": {}, "prompts": {}, "resources": {"subscribe": true}, "tools": {},
        });
        let mut info = ServerInfo::new(serde_json::from_value(capabilities).expect("these are capabilities"));
        info.server_info = Implementation::new("innocent", "1.0.0");
        info
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        let number = json!({"type": "number"});
        let string = json!({"type": "string"});
        let tool = |name: &str, description: &str, properties: Value, required: Value| {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            let read_only = name != "remember";
            json!({"name": name, "description": description, "inputSchema": schema, "annotations": {"readOnlyHint": read_only}})
        };
        let mut add = tool("add", "Adds two numbers.", json!({"a": number, "b": number}), json!(["a", "b"]));
        add["outputSchema"] = json!({"type": "object", "properties": {"sum": number}, "required": ["sum"]});
        let steps = json!({"type": "integer", "minimum": 1, "maximum": 50, "default": 3});
        parsed(json!({"tools": [
            add,
            tool("count", "Counts slowly and reports its progress.", json!({"steps": steps}), json!([])),
            tool("ask", "Asks the client's model.", json!({"question": string}), json!(["question"])),
            tool("order", "Asks the user what to order.", json!({}), json!([])),
            tool("remember", "Writes a note.", json!({"note": string}), json!(["note"])),
        ]}))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let question = match &*request.name {
            "add" => {
                let (Some(a), Some(b)) = (number(&arguments, "a"), number(&arguments, "b")) else {
                    return Ok(failed("the numbers a and b are required").into());
                };
                return Ok(CallToolResult::structured(json!({"sum": a + b})).into());
            }
            "count" => {
                let steps = if arguments.contains_key("steps") { number(&arguments, "steps") } else { Some(3.0) };
                let Some(steps) = steps.filter(|steps| (1.0..=50.0).contains(steps) && steps.fract() == 0.0) else {
                    return Ok(failed("steps is an integer from 1 to 50").into());
                };
                return Ok(self.count(steps as u32, &context).await?.into());
            }
            "remember" => {
                let Some(note) = arguments.get("note").and_then(Value::as_str) else {
                    return Ok(failed("a note is required").into());
                };
                self.notes.send_replace(note.to_owned());
                return Ok(said("noted".into()).into());
            }
            "ask" => {
                let Some(question) = arguments.get("question").and_then(Value::as_str) else {
                    return Ok(failed("a question is required").into());
                };
                json!({"method": "sampling/createMessage", "params": {
                    "messages": [{"role": "user", "content": {"type": "text", "text": question}}],
                    "maxTokens": 50,
                }})
            }
            "order" => json!({"method": "elicitation/create", "params": {
                "mode": "form",
                "message": "What do you want?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "amount": {"type": "integer"}},
                    "required": ["name"],
                },
            }}),
            name => return Err(ErrorData::invalid_params(format!("no tool {name}"), None)),
        };
        self.ask(&request, &context, question).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        parsed(json!({"resources": [{"uri": NOTES, "name": "today", "mimeType": "text/plain"}]}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        parsed(
            json!({"resourceTemplates": [{"uriTemplate": "notes://{day}/all", "name": "day", "mimeType": "text/plain"}]}),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let day = request.uri.strip_prefix("notes://").and_then(|rest| rest.strip_suffix("/all"));
        let text = match day {
            _ if request.uri == NOTES => self.notes.borrow().clone(),
            Some(day) => format!("the notes of {day}"),
            None => return Err(ErrorData::resource_not_found("Resource not found", Some(json!({"uri": request.uri})))),
        };
        let contents = json!({"contents": [{"uri": request.uri, "mimeType": "text/plain", "text": text}]});
        let result: ReadResourceResult = parsed(contents)?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = json!([{"name": "code", "required": true}, {"name": "language", "required": true}]);
        parsed(json!({"prompts": [{"name": "review", "description": "Asks for a review", "arguments": arguments}]}))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "review" {
            return Err(ErrorData::invalid_params(format!("no prompt {}", request.name), None));
        }
        let given = |name: &str| {
            let value = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
            value.ok_or_else(|| ErrorData::invalid_params(format!("{name} is required"), None))
        };
        let text = format!("Please review this {}: {}", given("language")?, given("code")?);
        let result: GetPromptResult =
            parsed(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))?;
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let all: &[&str] = match request.r#ref {
            Reference::Prompt(_) => &["pascal", "perl", "python", "ruby"],
            _ => &["monday", "tuesday"],
        };
        let values: Vec<_> = all.iter().filter(|value| value.starts_with(&request.argument.value)).collect();
        parsed(json!({"completion": {"values": values}}))
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        let level = json!(request.level);
        let position = LEVELS.iter().position(|name| level == *name).unwrap_or(0);
        self.level.store(position, Ordering::Relaxed);
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        if self.watched.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let mut changes = self.notes.subscribe();
        let waiting = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                let update = ResourceUpdatedNotificationParam::new(NOTES);
                if context.peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        });
        *self.waiting.lock().expect("nobody panics with it") = Some(waiting);
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.watched.store(false, Ordering::Relaxed);
        if let Some(waiting) = self.waiting.lock().expect("nobody panics with it").take() {
            waiting.abort();
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.notes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = changes.changed() => {
                    let _ = context.sink().notify_resource_updated(NOTES).await;
                }
            }
        }
    }
}
