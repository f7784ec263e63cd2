//! The server of the official Rust SDK in the comparison.

use std::sync::OnceLock;

use axum::serve::ListenerExt;
use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::{
    ErrorData, Json, Peer, RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        tool::{InputResponses, RequestState, ToolRouter},
        wrapper::Parameters,
    },
    model::*,
    service::{RequestContext, SubscriptionContext},
    tool, tool_handler, tool_router,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;

const STEPS: u32 = 10;
const BASE_TOOLS: usize = 4;
const BLOB_URI: &str = "bench://blob";

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Echo {
    text: String,
    count: i64,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Name {
    name: String,
}
rmcp::elicit_safe!(Name);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Size {
    size: i64,
}
rmcp::elicit_safe!(Size);

/// Bench is cloned for each request or session; all share one table of tools.
#[derive(Clone)]
struct Bench {
    changes: watch::Sender<u64>,
}

static TOOLS: OnceLock<ToolRouter<Bench>> = OnceLock::new();
static BLOB: OnceLock<Vec<u8>> = OnceLock::new();

fn tools() -> &'static ToolRouter<Bench> {
    TOOLS.get().expect("main has made the tools")
}

fn internal(e: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(e.to_string(), None)
}

#[tool_router]
impl Bench {
    #[tool(
        name = "echo",
        description = "One of many tools: it returns its arguments, and has a description of ordinary length."
    )]
    async fn echo(&self, args: Parameters<Echo>) -> Result<Json<Echo>, ErrorData> {
        Ok(Json(args.0))
    }

    #[tool(
        name = "progress",
        description = "One of many tools: it returns its arguments, and has a description of ordinary length."
    )]
    async fn progress(
        &self,
        args: Parameters<Echo>,
        meta: RequestMetaObject,
        peer: Peer<RoleServer>,
    ) -> Result<Json<Echo>, ErrorData> {
        let token = meta.get_progress_token().ok_or_else(|| internal("no progress token"))?;
        for i in 1..=STEPS {
            let step = ProgressNotificationParam::new(token.clone(), i.into()).with_total(STEPS.into());
            peer.notify_progress(step).await.map_err(internal)?;
        }
        Ok(Json(args.0))
    }

    #[tool(
        name = "change",
        description = "One of many tools: it returns its arguments, and has a description of ordinary length."
    )]
    async fn change(&self, args: Parameters<Echo>) -> Result<Json<Echo>, ErrorData> {
        self.changes.send_modify(|n| *n += 1);
        Ok(Json(args.0))
    }

    /// Asks in rounds where the era has them, else in place. The state is
    /// neither encrypted nor signed, because that is left to the user.
    #[tool(
        name = "ask",
        description = "One of many tools: it returns its arguments, and has a description of ordinary length."
    )]
    async fn ask(
        &self,
        args: Parameters<Echo>,
        RequestState(state): RequestState,
        InputResponses(answers): InputResponses,
        meta: RequestMetaObject,
        peer: Peer<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !meta.contains_key("io.modelcontextprotocol/protocolVersion") {
            let name: Option<Name> = peer.elicit("Which name?").await.map_err(internal)?;
            let size: Option<Size> = peer.elicit("Which size?").await.map_err(internal)?;
            let (name, size) = name.zip(size).ok_or_else(|| internal("no answer"))?;
            return finish(name.name, size.size, args.0.tags);
        }
        let given = |key: &str| answers.as_ref().and_then(|a| a.get(key)).map(|a| a["content"][key].clone());
        match state.as_deref() {
            None => Ok(question("name", "string", "1".into())),
            Some("1") => {
                let name = given("name").and_then(|v| v.as_str().map(str::to_owned));
                Ok(question("size", "integer", format!("2{}", name.ok_or_else(|| internal("no name"))?)))
            }
            Some(state) => {
                let size = given("size").and_then(|v| v.as_i64()).ok_or_else(|| internal("no size"))?;
                finish(state[1..].to_owned(), size, args.0.tags)
            }
        }
    }
}

fn finish(text: String, count: i64, tags: Vec<String>) -> Result<CallToolResponse, ErrorData> {
    let result = serde_json::to_value(Echo { text, count, tags }).map_err(internal)?;
    Ok(CallToolResult::structured(result).into())
}

fn question(key: &str, kind: &str, state: String) -> CallToolResponse {
    let schema = json!({"type": "object", "properties": {key: {"type": kind}}, "required": [key]});
    let ask = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Which {key}?"),
        requested_schema: serde_json::from_value(schema).expect("a valid form"),
    });
    let mut requests = InputRequests::new();
    requests.insert(key.to_owned(), InputRequest::Elicitation(ask));
    InputRequiredResult::new(Some(requests), Some(state)).into()
}

#[tool_handler(router = tools())]
impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("bench", "1.0.0"))
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let blob = BLOB.get_or_init(|| (0..1usize << 20).map(|i| (i * 7) as u8).collect());
        let contents = ResourceContents::blob(BASE64_STANDARD.encode(blob), BLOB_URI);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                _ = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    changed.map_err(internal)?;
                    context.sink().notify_tool_list_changed().await.map_err(internal)?;
                }
            }
        }
    }
}

/// all_tools is the table of the tools, with those that only fill the list.
fn all_tools(n: usize) -> ToolRouter<Bench> {
    let mut router = Bench::tool_router();
    let echo = router.map["echo"].clone();
    for i in BASE_TOOLS..n {
        let mut route = echo.clone();
        route.attr.name = format!("tool-{i:05}").into();
        router.add_route(route);
    }
    router
}

fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).map(|i| args[i + 1].clone())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = flag("-tools").map_or(Ok(BASE_TOOLS), |n| n.parse())?;
    let _ = TOOLS.set(all_tools(n));
    let bench = Bench { changes: watch::Sender::new(0) };
    let Some(addr) = flag("-http") else {
        bench.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service: StreamableHttpService<Bench, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(bench.clone()), Default::default(), StreamableHttpServerConfig::default());
    let app = axum::Router::new().nest_service("/mcp", service);
    // As the servers in the other languages have it by default: without it an
    // answer in two writes waits for the client's delayed acknowledgement.
    let listener = tokio::net::TcpListener::bind(addr).await?.tap_io(|tcp| {
        let _ = tcp.set_nodelay(true);
    });
    axum::serve(listener, app).await?;
    Ok(())
}
