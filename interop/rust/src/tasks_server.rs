//! A server whose tools run as tasks of the extension.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::RequestContext,
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};

use crate::{
    Failure,
    server::{parsed, said},
};

pub async fn run(way: &str) -> Result<(), Failure> {
    let server = Server { tasks: TaskManager::new() };
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
    tasks: TaskManager,
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        let mut info = ServerInfo::new(ServerCapabilities::builder().enable_tools().enable_tasks().build());
        info.server_info = Implementation::new("interop", "1");
        info
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| json!({"name": name, "description": "For parley", "inputSchema": {"type": "object"}});
        let tools = ["count", "order", "ask", "fail", "broken"].map(tool);
        parsed(json!({"tools": tools}))
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: Context) -> Result<CallToolResponse, ErrorData> {
        let options = TaskOptions::new().with_poll_interval_ms(50);
        let task = self.tasks.spawn(options, move |context| Box::pin(work(request, context)));
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}

async fn work(request: CallToolRequestParams, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    match &*request.name {
        "count" => count(&arguments, &context).await,
        "order" => {
            let question = json!({"method": "elicitation/create", "params": {
                "mode": "form",
                "message": "What do you want?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "amount": {"type": "integer"}},
                    "required": ["name", "amount"],
                },
            }});
            let answer = context.request_input("order", parsed(question)?).await?;
            let content = &answer["content"];
            Ok(said(format!("{} wants {}", content["name"].as_str().unwrap_or_default(), content["amount"])))
        }
        "ask" => {
            let question = json!({"method": "sampling/createMessage", "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": arguments["text"]}}],
                "maxTokens": 50,
            }});
            let content = &context.request_input("ask", parsed(question)?).await?["content"];
            let text = content["text"].as_str().or(content[0]["text"].as_str());
            Ok(said(format!("the model said: {}", text.unwrap_or("nothing"))))
        }
        "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")])),
        _ => Err(ErrorData::new(ErrorCode(4242), "it is broken", None).into()),
    }
}

async fn count(arguments: &Value, context: &TaskContext) -> Result<CallToolResult, TaskExit> {
    let steps = arguments["steps"].as_u64().unwrap_or(0);
    let pause = Duration::from_secs_f64(arguments["pause"].as_f64().unwrap_or(0.0));
    for step in 1..=steps {
        tokio::select! {
            () = context.cancelled() => return Err(TaskExit::Cancelled),
            () = tokio::time::sleep(pause) => context.set_status_message(format!("{step} of {steps}")),
        }
    }
    Ok(said(format!("counted to {steps}")))
}
