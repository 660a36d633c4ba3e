//! Vectors written as they are read: what a failed random script prints can be put into a file and played again.

use std::fmt;

use serde_json::{Map as Table, Value, json};
use stillup::model::two_stage::WatchAck;

use super::vector::{Crowd, Disk, Op, Vector};

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script: Vec<String> = self.script.iter().map(|op| format!("    {}", written(op))).collect();
        let config = Value::Object(self.knobs.changed.iter().cloned().collect());
        writeln!(f, "{{")?;
        writeln!(
            f,
            "  \"id\": {:?}, \"preset\": {:?}, \"horizon\": {},",
            self.id, self.knobs.preset, self.horizon
        )?;
        writeln!(f, "  \"config\": {config},")?;
        writeln!(f, "  \"script\": [\n{}\n  ],", script.join(",\n"))?;
        write!(f, "  \"expect\": []\n}}")
    }
}

/// An operation as the conventions have it.
pub(crate) fn written(op: &Op) -> Value {
    let with = |name: &str, fields: Value| {
        let mut table = Table::from_iter([("op".to_owned(), json!(name))]);
        table.extend(fields.as_object().cloned().unwrap_or_default());
        Value::Object(table)
    };
    match op {
        Op::Register(who) => with("register", crowd("t", who)),
        Op::Deregister(who) => with("deregister", crowd("t", who)),
        Op::Beats { who, every, until } => {
            let mut fields = crowd("from", who);
            fields["every"] = json!(every);
            fields["until"] = json!(until);
            with("beats", fields)
        }
        Op::Fetch { t } => with("fetch", json!({"t": t})),
        Op::Provider { who, stop_beats_first } => {
            let mut fields = crowd("t", who);
            fields["stop_beats_first"] = json!(stop_beats_first);
            with("provider", fields)
        }
        Op::Shutdown { who, stop_beats_first } => {
            let mut fields = crowd("t", who);
            fields["stop_beats_first"] = json!(stop_beats_first);
            with("shutdown", fields)
        }
        Op::Consumer { name, t, disk } => {
            let disk = match disk {
                Disk::None => Value::Null,
                Disk::Map(map) => {
                    map.iter().map(|(svc, ids)| (svc.clone(), json!(ids.to_string()))).collect()
                }
                Disk::Torn => json!("torn"),
            };
            with("consumer", json!({"name": name, "t": t, "disk": disk}))
        }
        Op::ConsumerStop { name, t } => with("consumer_stop", json!({"name": name, "t": t})),
        Op::ConsumerStart { name, t } => with("consumer_start", json!({"name": name, "t": t})),
        Op::RegistryDown { t } => with("registry_down", json!({"t": t})),
        Op::RegistryRestart { t } => with("registry_restart", json!({"t": t})),
        Op::RegistryPause { t, until } => with("registry_pause", json!({"t": t, "until": until})),
        Op::ClockStep { t, by } => with("clock_step", json!({"t": t, "by": by})),
        Op::Watch(it) => {
            let ack = if it.ack == WatchAck::Always { "always" } else { "on_apply" };
            let cur = it.cur.join(",");
            with(
                "watch",
                json!({
                    "t": it.t, "svc": it.svc, "rev": it.rev, "cur": cur, "ack": ack, "gap": it.gap,
                    "timeout": it.timeout
                }),
            )
        }
        Op::Subscribe { name, t, svc } => with("subscribe", json!({"name": name, "t": t, "svc": svc})),
    }
}

fn crowd(first: &str, who: &Crowd) -> Value {
    let mut fields = json!({first: who.t, "step": who.step, "ids": who.ids.join(",")});
    if !who.svc.is_empty() {
        fields["svc"] = json!(who.svc);
    }
    fields
}
