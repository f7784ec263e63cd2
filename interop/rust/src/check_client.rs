//! A client for `parley check` to judge, which does everything that a client can do. What
//! fails is told on standard error and left; the process ends with code 0.

use std::{collections::BTreeMap, future::Future, time::Duration};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::*,
    service::{
        ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
    },
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Map, Value, json};
use tokio::{process::Command, time::timeout};

use crate::Failure;

/// Of one request, and of everything.
const EACH: Duration = Duration::from_secs(3);
const WHOLE: Duration = Duration::from_secs(25);
/// Of the end: a server that does not exit is waited for, told to, and waited for again.
const END: Duration = Duration::from_secs(10);

pub async fn run(mode: &str, target: &[&str]) -> Result<(), Failure> {
    let mut done = Done::default();
    let outcome = timeout(WHOLE, visit(mode, target, &mut done)).await;
    match outcome {
        Ok(Err(error)) => eprintln!("connection: {error}"),
        Err(_) => eprintln!("no end in time"),
        Ok(Ok(())) => {}
    }
    println!("{}", json!(done.0));
    std::process::exit(0) // whatever still hangs
}

#[derive(Default)]
struct Done(BTreeMap<&'static str, u32>);

impl Done {
    async fn attempt<T, E: std::fmt::Display>(
        &mut self,
        step: &'static str,
        run: impl Future<Output = Result<T, E>>,
    ) -> Option<T> {
        self.within(EACH, step, run).await
    }

    async fn within<T, E: std::fmt::Display>(
        &mut self,
        limit: Duration,
        step: &'static str,
        run: impl Future<Output = Result<T, E>>,
    ) -> Option<T> {
        match timeout(limit, run).await {
            Ok(Ok(result)) => {
                *self.0.entry(step).or_default() += 1;
                return Some(result);
            }
            Ok(Err(error)) => eprintln!("{step}: {error}"),
            Err(_) => eprintln!("{step}: no end"),
        }
        None
    }
}

struct Willing;

impl ClientHandler for Willing {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .enable_roots()
            .enable_roots_list_changed()
            .build();
        ClientConfig::new(capabilities, Implementation::new("innocent-client", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = json!(request);
        let answer = ElicitResult::new(ElicitationAction::Accept);
        Ok(if request["mode"] == "url" { answer } else { answer.with_content(sample(&request["requestedSchema"])) })
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let content = json!({"type": "text", "text": "x"});
        parsed(json!({"role": "assistant", "content": content, "model": "innocent-model", "stopReason": "endTurn"}))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        parsed(json!({"roots": [{"uri": "file:///tmp", "name": "tmp"}]}))
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        // It must not hold up the reader of what it waits for.
        tokio::spawn(async move { context.peer.list_all_tools().await.map(|_| ()) });
    }
}

fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

async fn connect(mode: &str, target: &[&str]) -> Result<RunningService<RoleClient, Willing>, Failure> {
    let latest = vec![ProtocolVersion::LATEST];
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto { preferred_versions: latest, legacy_version: None },
        _ => ClientLifecycleMode::Discover { preferred_versions: latest },
    };
    if target[0] != "--" {
        let transport = StreamableHttpClientTransport::from_uri(target[0].to_owned());
        return Ok(Willing.serve_with_lifecycle(transport, lifecycle).await?);
    }
    let mut command = Command::new(target[1]);
    command.args(&target[2..]);
    Ok(Willing.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?)
}

async fn visit(mode: &str, target: &[&str], done: &mut Done) -> Result<(), Failure> {
    let mut client = connect(mode, target).await?;
    done.0.insert("connect", 1);
    let modern = client.peer_info().is_some_and(|server| !server.protocol_version.has_initialize());
    let has = client.peer_info().map(|server| server.capabilities.clone()).unwrap_or_default();
    if !modern && has.logging.is_some() {
        done.attempt("level", client.set_level(parsed(json!({"level": "debug"}))?)).await;
    }
    let (mut tools, mut resources, mut templates, mut prompts) = (vec![], vec![], vec![], vec![]);
    if has.tools.is_some() {
        tools = done.attempt("list tools", client.list_all_tools()).await.unwrap_or_default();
    }
    if has.resources.is_some() {
        resources = done.attempt("list resources", client.list_all_resources()).await.unwrap_or_default();
        templates = done.attempt("list templates", client.list_all_resource_templates()).await.unwrap_or_default();
    }
    if has.prompts.is_some() {
        prompts = done.attempt("list prompts", client.list_all_prompts()).await.unwrap_or_default();
    }
    let subscribes = has.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true));
    let watched = resources.first().filter(|_| subscribes).map(|resource| resource.uri.clone());
    let mut subscription = None;
    if let Some(uri) = &watched {
        if modern {
            let filter = SubscriptionFilter::builder().resource_subscription(uri.clone()).build();
            subscription = done.attempt("subscribe", client.listen(filter)).await;
        } else {
            done.attempt("subscribe", client.subscribe(SubscribeRequestParams::new(uri.clone()))).await;
        }
    }
    for tool in &tools {
        done.attempt("call", client.call_tool(request(tool))).await;
    }
    for resource in &resources {
        done.attempt("read", client.read_resource(ReadResourceRequestParams::new(resource.uri.clone()))).await;
    }
    for template in &templates {
        let (uri, variable) = expand(&template.uri_template);
        done.attempt("read", client.read_resource(ReadResourceRequestParams::new(uri))).await;
        if has.completions.is_some() && !variable.is_empty() {
            done.attempt("complete", client.complete_resource_argument(&template.uri_template, variable, "", None))
                .await;
        }
    }
    for prompt in &prompts {
        let names: Vec<_> = prompt.arguments.iter().flatten().map(|argument| argument.name.clone()).collect();
        let arguments: Map<_, _> = names.iter().map(|name| (name.clone(), json!("x"))).collect();
        let params = parsed(json!({"name": prompt.name, "arguments": arguments}))?;
        done.attempt("prompt", client.get_prompt(params)).await;
        if let Some(name) = names.first().filter(|_| has.completions.is_some()) {
            done.attempt("complete", client.complete_prompt_argument(&prompt.name, name, "p", None)).await;
        }
    }
    if !modern {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        done.attempt("ping", client.send_request(ping)).await;
    }
    if let Some(tool) = tools.iter().find(|tool| tool.name.contains("count")).or(tools.first()) {
        done.attempt("cancel", cancel(&client, request(tool))).await;
    }
    if !modern {
        done.attempt("roots changed", client.notify_roots_list_changed()).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await; // for notifications on their way
    if let Some(mut subscription) = subscription {
        done.attempt("unsubscribe", subscription.cancel()).await;
    } else if let Some(uri) = watched {
        done.attempt("unsubscribe", client.unsubscribe(UnsubscribeRequestParams::new(uri))).await;
    }
    done.within(END, "close", client.close_with_timeout(END)).await;
    Ok(())
}

async fn cancel(
    client: &RunningService<RoleClient, Willing>,
    request: CallToolRequestParams,
) -> Result<(), rmcp::ServiceError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
    let call = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    call.cancel(Some("enough".into())).await
}

fn request(tool: &Tool) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.name.clone())
        .with_arguments(sample(&json!(tool.input_schema)).as_object().cloned().unwrap_or_default())
}

/// A URI with "x" for all variables, and the name of the first.
fn expand(template: &str) -> (String, String) {
    let (mut uri, mut first) = (String::new(), String::new());
    for (position, part) in template.split('{').enumerate() {
        let (variable, rest) = if position == 0 { ("", part) } else { part.split_once('}').unwrap_or(("", part)) };
        if position > 0 {
            uri.push('x');
        }
        if first.is_empty() {
            first = variable.trim_matches(|c| "+#./;?&*".contains(c)).to_owned();
        }
        uri.push_str(rest);
    }
    (uri, first)
}

/// A value that a schema asks for: the first of a choice, "x", 1 or true.
fn sample(schema: &Value) -> Value {
    for name in ["const", "default"] {
        if let Some(value) = schema.get(name) {
            return value.clone();
        }
    }
    if schema["enum"].is_array() {
        return schema["enum"][0].clone();
    }
    for name in ["oneOf", "anyOf"] {
        if schema[name].is_array() {
            return sample(&schema[name][0]);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str());
    match kind {
        Some("object") | None if schema["properties"].is_object() || kind.is_some() => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, property)| (name.clone(), sample(property))).collect()
        }
        Some("array") => json!([sample(&schema["items"])]),
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(schema["minimum"].as_f64().unwrap_or(1.0).max(1.0) as i64),
        _ if schema["format"] == "email" => json!("x@example.com"),
        _ => json!("x".repeat(schema["minLength"].as_u64().unwrap_or(1).max(1) as usize)),
    }
}
