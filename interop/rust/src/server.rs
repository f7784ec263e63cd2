//! A small server for parley to talk to.

use std::{fs::OpenOptions, io::Write, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};

use crate::Failure;

const NOTES: &str = "notes://today";

pub async fn run(way: &str, notes: &str) -> Result<(), Failure> {
    let server = Server { notes: notes.into() };
    if way == "stdio" {
        server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.clone()),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[derive(Clone)]
struct Server {
    notes: String,
}

type Context = RequestContext<RoleServer>;

/// A question, or what came of it.
enum Asked {
    Answered(Value),
    First(CallToolResponse),
}

impl Server {
    /// Asks the client: with a request in a session, and otherwise in the result of the call.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
        question: Value,
    ) -> Result<Asked, ErrorData> {
        if context.protocol_version().is_none_or(|version| version.has_initialize()) {
            let question = parsed(question)?;
            let failed = |error: rmcp::ServiceError| ErrorData::internal_error(error.to_string(), None);
            let answer = match question {
                InputRequest::Elicitation(q) => {
                    json!(context.peer.create_elicitation(q.params).await.map_err(failed)?)
                }
                InputRequest::CreateMessage(q) => {
                    json!(context.peer.create_message(q.params).await.map_err(failed)?)
                }
                _ => json!(context.peer.list_roots().await.map_err(failed)?),
            };
            return Ok(Asked::Answered(answer));
        }
        if let Some(answer) = request.input_responses.as_ref().and_then(|all| all.get("it")) {
            return Ok(Asked::Answered(json!(answer)));
        }
        let questions: InputRequests = parsed(json!({"it": question}))?;
        Ok(Asked::First(InputRequiredResult::new(Some(questions), Some("asked".into())).into()))
    }

    /// Counts slowly, reports progress, and notes when it was cancelled.
    async fn count(&self, arguments: &JsonObject, context: &Context) -> Result<CallToolResult, ErrorData> {
        let steps = number(arguments, "steps")?;
        let pause = Duration::from_secs_f64(number(arguments, "pause")?);
        for step in 1..=(steps as u32) {
            tokio::select! {
                () = context.ct.cancelled() => {
                    let file = OpenOptions::new().create(true).append(true).open(&self.notes);
                    let _ = file.and_then(|mut file| writeln!(file, "count was cancelled"));
                    return Err(ErrorData::internal_error("cancelled", None));
                }
                () = tokio::time::sleep(pause) => {}
            }
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, step.into()).with_total(steps);
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        Ok(said(format!("counted to {steps}")))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let mut info = ServerInfo::new(capabilities);
        info.server_info = Implementation::new("interop", "1");
        info
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        let number = json!({"type": "number"});
        let tool = |name: &str, arguments: Value| {
            let required: Vec<_> = arguments.as_object().into_iter().flat_map(|all| all.keys()).collect();
            let schema = json!({"type": "object", "properties": &arguments, "required": required});
            json!({"name": name, "description": "For parley", "inputSchema": schema})
        };
        let mut add = tool("add", json!({"a": number, "b": number}));
        add["outputSchema"] = json!({"type": "object", "properties": {"sum": number}});
        parsed(json!({"tools": [
            add,
            tool("count", json!({"steps": number, "pause": number})),
            tool("order", json!({})),
            tool("ask", json!({"text": {"type": "string"}})),
            tool("where", json!({})),
        ]}))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let question = match &*request.name {
            "add" => {
                let sum = number(&arguments, "a")? + number(&arguments, "b")?;
                return Ok(CallToolResult::structured(json!({"sum": sum})).into());
            }
            "count" => return Ok(self.count(&arguments, &context).await?.into()),
            "order" => json!({"method": "elicitation/create", "params": {
                "mode": "form",
                "message": "What do you want?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "amount": {"type": "integer"}},
                    "required": ["name", "amount"],
                },
            }}),
            "ask" => json!({"method": "sampling/createMessage", "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": arguments.get("text")}}],
                "maxTokens": 50,
            }}),
            "where" => json!({"method": "roots/list"}),
            name => return Err(ErrorData::invalid_params(format!("no tool {name}"), None)),
        };
        match self.ask(&request, &context, question).await? {
            Asked::First(question) => Ok(question),
            Asked::Answered(answer) if request.name == "ask" => {
                let content = &answer["content"];
                let text = content["text"].as_str().or(content[0]["text"].as_str());
                Ok(said(format!("the model said: {}", text.unwrap_or("nothing"))).into())
            }
            Asked::Answered(answer) => Ok(said(answer.to_string()).into()),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        parsed(json!({"resources": [{"uri": NOTES, "name": "today"}]}))
    }

    async fn read_resource(&self, _: ReadResourceRequestParams, _: Context) -> Result<ReadResourceResponse, ErrorData> {
        let result: ReadResourceResult = parsed(json!({"contents": [{"uri": NOTES, "text": "grüß dich"}]}))?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        parsed(json!({"prompts": [{"name": "review", "arguments": [{"name": "code", "required": true}]}]}))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        let code = request.arguments.as_ref().and_then(|all| all.get("code")).cloned();
        let text = format!("Please review: {}", code.as_ref().and_then(Value::as_str).unwrap_or(""));
        let result: GetPromptResult =
            parsed(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))?;
        Ok(result.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(500)).await;
                let update = ResourceUpdatedNotificationParam::new(NOTES);
                if context.peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = tokio::time::sleep(Duration::from_millis(500)) => {
                    let _ = context.sink().notify_resource_updated(NOTES).await;
                }
            }
        }
    }
}

pub fn said(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn number(arguments: &JsonObject, name: &str) -> Result<f64, ErrorData> {
    let value = arguments.get(name).and_then(Value::as_f64);
    value.ok_or_else(|| ErrorData::invalid_params(format!("the number {name} is required"), None))
}

pub fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
