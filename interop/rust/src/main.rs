//! What this suite needs of rmcp:
//!
//! ```text
//! peer server stdio|http NOTES    a server; over HTTP it prints its URL
//! peer client stdio|http EXPECTED a client of `parley serve`; prints a line of JSON for each check
//! peer tasks ...                  the same, about tasks
//! peer skills server stdio|http FOLDER    a server of skills
//! peer skills client URL|COMMAND...       a host that prints the skills of a server
//! peer check server stdio|http            a server for `parley check` to judge
//! peer check client MODE URL|COMMAND...   a client for it that does everything
//! ```

// Revision 2026-07-28 deprecates roots and sampling, and replaces resources/subscribe.
#![allow(deprecated)]

mod check_client;
mod check_server;
mod client;
mod server;
mod skills;
mod tasks_client;
mod tasks_server;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", way, notes] => server::run(way, notes).await,
        ["client", way, expected] => client::run(way, serde_json::from_str(expected)?).await,
        ["tasks", "server", way, _] => tasks_server::run(way).await,
        ["tasks", "client", way, expected] => tasks_client::run(way, serde_json::from_str(expected)?).await,
        ["skills", "server", way, folder] => skills::serve(way, folder).await,
        ["skills", "client", ref target @ ..] if !target.is_empty() => skills::visit(target).await,
        ["check", "server", way] => check_server::run(way).await,
        ["check", "client", mode, ref target @ ..] if !target.is_empty() => check_client::run(mode, target).await,
        _ => Err("usage: peer [tasks] server WAY NOTES | peer [tasks] client WAY EXPECTED".into()),
    }
}
