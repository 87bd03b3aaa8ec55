//! What members tell each other of themselves, over core NATS, and what the servers of the log say of their copies. Both are shown to
//! people, and nothing is decided by them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, Request};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::member_link::{NewestMessage, deliver};

/// Between two questions to the servers of the log.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// The way of one member to all others, on the connection of the log: it ends with it.
pub struct StatusLink {
    status: NewestMessage,
    servers: Arc<Mutex<Option<LogServers>>>,
}

/// The servers that hold copies of the log, as its stream's leader sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogServers {
    pub asked: Instant,
    /// The server that leads the stream; none where there is none.
    pub leader: Option<String>,
    /// How many hold a copy; 0 where they did not answer.
    pub servers: usize,
    /// Those whose copies are up to date.
    pub current: usize,
    /// Why they gave no answer.
    pub problem: Option<String>,
}

impl StatusLink {
    /// `on_status` gets what every member says, this one too.
    pub(crate) async fn open(
        (runtime, client): (&Handle, &Client),
        stream: &str,
        answer_wait: Duration,
        on_status: impl Fn(&[u8]) + Send + 'static,
    ) -> Result<Self, String> {
        let subject = format!("{stream}.member");
        let statuses = client.subscribe(subject.clone()).await.map_err(|error| error.to_string())?;
        runtime.spawn(deliver(statuses, on_status));
        let servers = Arc::<Mutex<Option<LogServers>>>::default();
        runtime.spawn(ask_again(client.clone(), format!("$JS.API.STREAM.INFO.{stream}"), answer_wait, servers.clone()));
        Ok(Self { status: NewestMessage::start(runtime, client.clone(), subject), servers })
    }

    /// Tells all members.
    pub fn send(&self, status: Vec<u8>) {
        self.status.send(status);
    }

    /// What the servers said last; none before they were asked.
    pub fn log_servers(&self) -> Option<LogServers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// For as long as the runtime is there.
async fn ask_again(client: Client, subject: String, wait: Duration, found: Arc<Mutex<Option<LogServers>>>) {
    loop {
        let request = Request::new().timeout(Some(wait));
        let asked = tokio::time::timeout(wait * 2, client.send_request(subject.clone(), request)).await;
        let answer = match asked {
            Ok(Ok(message)) => serde_json::from_slice(&message.payload).map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no answer came in time".to_owned()),
        };
        *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(log_servers(answer, Instant::now()));
        tokio::time::sleep(ASK_EVERY).await;
    }
}

fn log_servers(answer: Result<Value, String>, asked: Instant) -> LogServers {
    let described = answer.and_then(|answer| match answer["error"]["description"].as_str() {
        Some(description) => Err(description.to_owned()),
        None => Ok(answer),
    });
    let answer = match described {
        Ok(answer) => answer,
        Err(problem) => return LogServers { asked, leader: None, servers: 0, current: 0, problem: Some(problem) },
    };
    let cluster = &answer["cluster"];
    let leader = cluster["leader"].as_str().filter(|leader| !leader.is_empty()).map(ToOwned::to_owned);
    let others = cluster["replicas"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_current = |server: &&Value| server["current"] == true && server["offline"] != true;
    let own = usize::from(leader.is_some());
    LogServers {
        asked,
        servers: others.len() + own,
        current: others.iter().filter(is_current).count() + own,
        leader,
        problem: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_servers_of_the_log_are_counted_as_its_leader_sees_them() {
        let asked = Instant::now();
        let replicas = json!([{ "name": "n1", "current": true }, { "name": "n2", "current": false, "offline": true }]);
        let answer = json!({ "cluster": { "leader": "n0", "replicas": replicas } });
        let expected = LogServers { asked, leader: Some("n0".into()), servers: 3, current: 2, problem: None };
        assert_eq!(log_servers(Ok(answer), asked), expected);
        let silent =
            |reason: &str| LogServers { asked, leader: None, servers: 0, current: 0, problem: Some(reason.into()) };
        assert_eq!(log_servers(Err("no answer came in time".into()), asked), silent("no answer came in time"));
        let error = json!({ "error": { "code": 503, "description": "JetStream system temporarily unavailable" } });
        assert_eq!(log_servers(Ok(error), asked), silent("JetStream system temporarily unavailable"));
    }
}
