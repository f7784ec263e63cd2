//! Checks tasks of `parley serve`, and of the server in ../../tasks/ours, step by step:
//! rmcp leaves it to its user to follow a task.

use std::time::Duration;

use rmcp::{
    ClientHandler, RoleClient, ServiceError,
    model::*,
    service::{ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    Failure,
    client::{check, equal, includes, must, said, text},
};

const LIMIT: Duration = Duration::from_secs(60);

pub async fn run(way: &str, expected: Value) -> Result<(), Failure> {
    let mut visit = Visit { expected, parley: None, ours: None, slow: String::new() };
    check("connect", async {
        visit.parley = Some(Peer::connect(way, &visit.expected, "parley").await?);
        visit.ours = Some(Peer::connect(way, &visit.expected, "ours").await?);
        Ok(())
    })
    .await;
    let (Some(parley), Some(ours)) = (visit.parley.take(), visit.ours.take()) else { return Ok(()) };
    let annual = visit.expected["annual"].clone();
    check("result", parley.result(&annual)).await;
    check("poll", async {
        visit.slow = parley.poll(&annual).await?;
        Ok(())
    })
    .await;
    check("cancel", parley.cancel(&visit.slow)).await;
    check("ask", parley.ask(&annual)).await;
    check("failure", parley.decline(&annual)).await;
    check("sample", ours.sample()).await;
    check("error", ours.broken()).await;
    check("unknown", parley.unknown()).await;
    check("end", async {
        for mut peer in [parley, ours] {
            must(peer.client.close_with_timeout(LIMIT).await?.is_some(), "it did not close in time")?;
        }
        Ok(())
    })
    .await;
    Ok(())
}

struct Visit {
    expected: Value,
    parley: Option<Peer>,
    ours: Option<Peer>,
    slow: String,
}

#[derive(Clone)]
struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().enable_sampling().enable_tasks().build();
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1"))
    }
}

struct Peer {
    client: RunningService<RoleClient, Handler>,
}

impl Peer {
    async fn connect(way: &str, expected: &Value, server: &str) -> Result<Self, Failure> {
        let lifecycle =
            ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::LATEST], legacy_version: None };
        let client = if way == "http" {
            let transport = StreamableHttpClientTransport::from_uri(text(expected, &format!("/{server}/url")));
            Handler.serve_with_lifecycle(transport, lifecycle).await?
        } else {
            let words = expected[server]["command"].as_array().ok_or("no command")?;
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            Handler.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        };
        let info = client.peer_info().ok_or("nothing is known of the server")?;
        equal(&json!(info.protocol_version), &expected["revision"])?;
        must(info.capabilities.supports_tasks(), "the server does not declare tasks")?;
        Ok(Self { client })
    }

    /// Calls a tool, which has to become a task, and returns its ID.
    async fn start(&self, tool: &str, arguments: &Value) -> Result<String, Failure> {
        let request = CallToolRequestParams::new(tool.to_owned())
            .with_arguments(arguments.as_object().cloned().unwrap_or_default());
        match self.client.call_tool_once(request).await? {
            CallToolResponse::Task(made) => {
                must(made.task.status == TaskStatus::Working, "a task begins as working")?;
                Ok(made.task.task_id)
            }
            other => Err(format!("no task: {other:?}").into()),
        }
    }

    /// Polls a task until it is no longer working, or `enough` says so.
    async fn follow(&self, id: &str, enough: impl Fn(&Task) -> bool) -> Result<DetailedTask, Failure> {
        loop {
            let state = self.client.get_task(GetTaskParams::new(id)).await?.task;
            if state.status() != TaskStatus::Working || enough(&state.task) {
                return Ok(state);
            }
            tokio::time::sleep(Duration::from_millis(state.task.poll_interval_ms.unwrap_or(50))).await;
        }
    }

    /// Follows a task to its end and answers its question on the way.
    async fn answer(&self, id: &str, answer: &Value) -> Result<CallToolResult, Failure> {
        let TaskPayload::InputRequired { input_requests } = self.follow(id, |_| false).await?.payload else {
            return Err("the task asks nothing".into());
        };
        let responses: InputResponses = input_requests.into_keys().map(|key| (key, answer.clone())).collect();
        must(responses.len() == 1, "the task does not ask one question")?;
        self.client.update_task(UpdateTaskParams::new(id, responses.clone())).await?;
        self.client.update_task(UpdateTaskParams::new(id, responses)).await?; // which must not matter
        self.completed(id).await
    }

    async fn completed(&self, id: &str) -> Result<CallToolResult, Failure> {
        match self.follow(id, |_| false).await?.payload {
            TaskPayload::Completed { result } => Ok(serde_json::from_value(Value::Object(result))?),
            other => Err(format!("the task has not completed: {other:?}").into()),
        }
    }

    async fn result(&self, annual: &Value) -> Result<(), Failure> {
        let id = self.start(&text(annual, "/name"), &annual["complete"]).await?;
        includes(&said(&self.completed(&id).await?), &text(annual, "/text"))
    }

    async fn poll(&self, annual: &Value) -> Result<String, Failure> {
        let id = self.start(&text(annual, "/name"), &annual["slow"]).await?;
        let state = self.follow(&id, |task| task.status_message.is_some()).await?;
        must(state.status() == TaskStatus::Working, "the task is over too soon")?;
        includes(&state.task.status_message.unwrap_or_default(), &text(annual, "/message"))?;
        Ok(id)
    }

    async fn cancel(&self, id: &str) -> Result<(), Failure> {
        self.client.cancel_task(CancelTaskParams::new(id)).await?;
        let state = self.follow(id, |_| false).await?;
        must(state.status() == TaskStatus::Cancelled, &format!("the task is {:?}", state.status()))?;
        Ok(self.client.cancel_task(CancelTaskParams::new(id)).await?) // which must not matter
    }

    async fn ask(&self, annual: &Value) -> Result<(), Failure> {
        let id = self.start(&text(annual, "/name"), &json!({})).await?;
        let answer = json!({"action": "accept", "content": annual["answer"]});
        let result = self.answer(&id, &answer).await?.structured_content.ok_or("no structured content")?;
        equal(&result["format"], &annual["answer"]["format"])
    }

    async fn decline(&self, annual: &Value) -> Result<(), Failure> {
        let id = self.start(&text(annual, "/name"), &json!({})).await?;
        let result = self.answer(&id, &json!({"action": "decline"})).await?;
        must(result.is_error == Some(true), "not a failed result")?;
        includes(&said(&result), &text(annual, "/declined"))
    }

    async fn sample(&self) -> Result<(), Failure> {
        let id = self.start("ask", &json!({"text": "Why?"})).await?;
        let content = json!({"type": "text", "text": "Because."});
        let answer = json!({"role": "assistant", "model": "none", "content": content});
        includes(&said(&self.answer(&id, &answer).await?), "the model said: Because.")
    }

    async fn broken(&self) -> Result<(), Failure> {
        let id = self.start("broken", &json!({})).await?;
        match self.follow(&id, |_| false).await?.payload {
            TaskPayload::Failed { error } => equal(&error["code"], &json!(4242)),
            other => Err(format!("the task has not failed: {other:?}").into()),
        }
    }

    async fn unknown(&self) -> Result<(), Failure> {
        match self.client.get_task(GetTaskParams::new("there-is-no-such-task")).await {
            Err(ServiceError::McpError(error)) => equal(&json!(error.code.0), &json!(-32602)),
            other => Err(format!("the task is known: {other:?}").into()),
        }
    }
}
