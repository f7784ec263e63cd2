//! Skills in both roles: a host that prints what it has found, as JSON, and a server of
//! the skills in a folder.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt,
    handler::server::skill_catalog::SkillCatalog,
    model::*,
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::{
        StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::Failure;

/// Lists, gets and reads the skills of a server: a URL, or the words of a command.
pub async fn visit(target: &[&str]) -> Result<(), Failure> {
    let lifecycle =
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::LATEST], legacy_version: None };
    let client = if target[0].starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(target[0].to_owned());
        ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let mut command = Command::new(target[0]);
        command.args(&target[1..]);
        ClientConfig::default().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
    };
    let mut skills = Map::new();
    for skill in client.list_all_skills().await? {
        skill.validate()?;
        let again = client.get_skill(GetSkillRequestParams::new(skill.uri.clone())).await?.skill;
        let files = verified(&client, &skill).await?;
        let found = json!({"frontmatter": skill.frontmatter, "same": again == skill, "files": files});
        skills.insert(skill.uri, found);
    }
    let none = client.get_skill(GetSkillRequestParams::new("skill://none/SKILL.md")).await;
    let folder = ReadResourceDirectoryRequestParams::new("skill://refunds");
    let folder = client.read_resource_directory(folder).await?;
    let folder: Vec<_> = folder.resources.iter().map(|child| (&child.uri, &child.mime_type)).collect();
    let revision = client.peer_info().map(|info| info.protocol_version.clone());
    let none = none.err().map(|error| error.to_string());
    println!("{}", json!({"revision": revision, "skills": skills, "none": none, "folder": folder}));
    client.cancel().await?;
    Ok(())
}

type Client = RunningService<RoleClient, ClientConfig>;

/// Returns the bytes of each file that is what the manifest says.
async fn verified(client: &Client, skill: &Skill) -> Result<Value, Failure> {
    let SkillResources::Files(files) = &skill.resources else { return Err("no manifest".into()) };
    let mut found = Map::new();
    for file in files {
        let result = client.read_resource(ReadResourceRequestParams::new(file.uri.clone())).await?;
        let bytes = match &result.contents[0] {
            ResourceContents::TextResourceContents { text, .. } => text.clone().into_bytes(),
            ResourceContents::BlobResourceContents { blob, .. } => BASE64_STANDARD.decode(blob)?,
            other => return Err(format!("unknown contents: {other:?}").into()),
        };
        file.verify(&bytes)?;
        found.insert(file.uri.clone(), BASE64_STANDARD.encode(bytes).into());
    }
    Ok(found.into())
}

/// Serves the skills of a folder on standard input and output, or on a free port, whose
/// URL it prints.
pub async fn serve(way: &str, folder: &str) -> Result<(), Failure> {
    let server = Server { catalog: Arc::new(SkillCatalog::from_dir(folder)?) };
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
    catalog: Arc<SkillCatalog>,
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        let builder = ServerCapabilities::builder().enable_resources();
        ServerInfo::new(builder.enable_skills_with_directory_read().build())
    }

    async fn list_skills(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListSkillsResult, ErrorData> {
        Ok(self.catalog.list_skills())
    }

    async fn get_skill(&self, request: GetSkillRequestParams, _: Context) -> Result<GetSkillResult, ErrorData> {
        self.catalog.get_skill(&request.uri)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _: Context,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.catalog.read_resource_directory(&request.uri)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.catalog.resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.catalog.read_resource(&request.uri).map(Into::into);
        found.ok_or_else(|| ErrorData::resource_not_found(request.uri, None))
    }
}
