//! A vector: a script, settings, and the rows that must come of it. Section 7 of the specification says what its
//! operations mean.

use std::fs;
use std::path::Path;

use serde_json::{Map as Table, Value};
use stillup::model::two_stage::WatchAck;

use super::ids;
use super::knobs::{Knobs, ack};
use super::row::{EXTRA_KINDS, Map, Row, normal, read_map};

/// A vector, read and checked.
#[derive(Clone)]
pub(crate) struct Vector {
    /// Its name.
    pub id: String,
    /// The settings: a preset's, changed.
    pub knobs: Knobs,
    /// The last millisecond.
    pub horizon: u64,
    /// What happens.
    pub script: Vec<Op>,
    /// The kinds of row that count, if not all do.
    record: Option<Vec<String>>,
    /// The rows that must come of it.
    expect: Vec<Row>,
}

/// An operation. Times are ms from the start of the registry; the k-th of `ids` acts k steps later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Registrations reach the registry.
    Register(Crowd),
    /// De-registrations reach the registry.
    Deregister(Crowd),
    /// Heartbeats reach the registry, up to and including `until`.
    Beats { who: Crowd, every: u64, until: u64 },
    /// What a fetch would return is logged.
    Fetch { t: u64 },
    /// Processes start that register and send heartbeats.
    Provider { who: Crowd, stop_beats_first: Option<bool> },
    /// Such processes stop in order. Whatever service they are of, if none is said.
    Shutdown { who: Crowd, stop_beats_first: Option<bool> },
    /// A consumer starts on a disk of its own.
    Consumer { name: String, t: u64, disk: Disk },
    /// It is killed.
    ConsumerStop { name: String, t: u64 },
    /// It starts again.
    ConsumerStart { name: String, t: u64 },
    /// The registry's process is gone.
    RegistryDown { t: u64 },
    /// It starts again.
    RegistryRestart { t: u64 },
    /// It stands still.
    RegistryPause { t: u64, until: u64 },
    /// Its wall clock is set.
    ClockStep { t: u64, by: i64 },
    /// A loop of long polls begins.
    Watch(Watch),
    /// Somebody subscribes to pushes, and polls often enough to stay subscribed.
    Subscribe { name: String, t: u64, svc: String },
}

/// Instances of a service that do the same one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crowd {
    /// When the first does it.
    pub t: u64,
    /// From one to the next.
    pub step: u64,
    /// Empty: of any service.
    pub svc: String,
    /// In order.
    pub ids: Vec<String>,
}

/// What is in a consumer's file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Disk {
    /// There is no file.
    None,
    /// A map.
    Map(Map),
    /// Something that cannot be read.
    Torn,
}

/// A client that does nothing but one loop of long polls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watch {
    /// When the first is issued.
    pub t: u64,
    /// Of which service.
    pub svc: String,
    /// The revision that it knows.
    pub rev: u32,
    /// The list that it holds.
    pub cur: Vec<String>,
    /// When it takes a revision for its own.
    pub ack: WatchAck,
    /// From an answer to the next long poll.
    pub gap: u64,
    /// How long each waits for a change.
    pub timeout: u64,
}

impl Crowd {
    /// Who acts, and when.
    pub(crate) fn moments(&self) -> impl Iterator<Item = (u64, &str)> {
        self.ids.iter().enumerate().map(|(k, id)| (self.t + k as u64 * self.step, id.as_str()))
    }
}

impl Op {
    /// The instances that it is about, if it is about some.
    pub(crate) fn ids(&self) -> Option<&[String]> {
        match self {
            Self::Register(who) | Self::Deregister(who) => Some(&who.ids),
            Self::Beats { who, .. } | Self::Provider { who, .. } | Self::Shutdown { who, .. } => {
                Some(&who.ids)
            }
            _ => None,
        }
    }

    /// The service that it is about, if it is about one.
    pub(crate) fn svc(&self) -> Option<&str> {
        let svc = match self {
            Self::Register(who) | Self::Deregister(who) => &who.svc,
            Self::Beats { who, .. } | Self::Provider { who, .. } | Self::Shutdown { who, .. } => &who.svc,
            Self::Watch(watch) => &watch.svc,
            Self::Subscribe { svc, .. } => svc,
            _ => return None,
        };
        Some(svc).filter(|svc| !svc.is_empty()).map(String::as_str)
    }
}

impl Vector {
    /// A vector that expects nothing yet.
    pub(crate) fn of(id: &str, knobs: Knobs, horizon: u64, script: Vec<Op>) -> Self {
        Self { id: id.to_owned(), knobs, horizon, script, record: None, expect: Vec::new() }
    }

    /// Reads a vector.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let table = value.as_object().ok_or("a vector is a table")?;
        let id = table.get("id").and_then(Value::as_str).ok_or("a vector has an id")?.to_owned();
        Self::read(&id, table).map_err(|problem| format!("{id}: {problem}"))
    }

    fn read(id: &str, table: &Table<String, Value>) -> Result<Self, String> {
        let known = ["id", "preset", "config", "horizon", "script", "record", "expect", "comment"];
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("a vector has no {key:?}"));
        }
        let preset = table.get("preset").and_then(Value::as_str).ok_or("a vector has a preset")?;
        let mut knobs = Knobs::preset(preset)?;
        for (name, value) in table.get("config").and_then(Value::as_object).into_iter().flatten() {
            knobs.set(name, value)?;
        }
        let horizon = table.get("horizon").and_then(Value::as_u64).ok_or("a vector has a horizon")?;
        let list = |name: &str| {
            let values = table.get(name).and_then(Value::as_array);
            values.ok_or_else(|| format!("{name} is a list"))
        };
        let script = list("script")?.iter().map(|op| read_op(op, &knobs)).collect::<Result<_, _>>()?;
        let expect = list("expect")?.iter().map(Row::parse).collect::<Result<_, _>>()?;
        let record = match table.get("record") {
            None | Some(Value::Null) => None,
            Some(_) => {
                let kind = |kind: &Value| kind.as_str().map(str::to_owned).ok_or("record lists kinds");
                Some(list("record")?.iter().map(kind).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { id: id.to_owned(), knobs, horizon, script, record, expect })
    }

    /// The services that the script names, in order of their names.
    pub(crate) fn services(&self) -> Vec<String> {
        let mut services: Vec<String> = self.script.iter().filter_map(Op::svc).map(str::to_owned).collect();
        for op in &self.script {
            if let Op::Consumer { disk: Disk::Map(map), .. } = op {
                services.extend(map.keys().cloned());
            }
        }
        services.sort();
        services.dedup();
        services
    }

    /// The expected rows in normal form.
    pub(crate) fn expected(&self) -> Vec<Row> {
        normal(self.expect.clone())
    }

    /// Those rows of a log that count, in normal form.
    pub(crate) fn counted(&self, log: Vec<Row>) -> Vec<Row> {
        let named = |kind: &str| match &self.record {
            Some(kinds) => kinds.iter().any(|it| it == kind),
            None => !EXTRA_KINDS.contains(&kind) || self.expect.iter().any(|row| row.kind == kind),
        };
        normal(log.into_iter().filter(|row| named(row.kind)).collect())
    }
}

/// The fields of an operation, each of which is to be used.
struct Fields<'a> {
    table: &'a Table<String, Value>,
    used: Vec<&'static str>,
    /// Whether the only other field is one, whatever its name.
    length_is_used: bool,
}

impl<'a> Fields<'a> {
    fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.used.push(name);
        self.table.get(name)
    }

    fn number(&mut self, name: &'static str) -> Result<u64, String> {
        self.get(name).and_then(Value::as_u64).ok_or_else(|| format!("{name} is a number: {:?}", self.table))
    }

    fn number_or(&mut self, name: &'static str, otherwise: u64) -> Result<u64, String> {
        if self.table.contains_key(name) { self.number(name) } else { Ok(otherwise) }
    }

    fn text(&mut self, name: &'static str) -> Result<&'a str, String> {
        self.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name} is a text: {:?}", self.table))
    }

    fn name(&mut self) -> Result<String, String> {
        self.text("name").map(str::to_owned)
    }

    fn ids(&mut self, name: &'static str) -> Result<Vec<String>, String> {
        ids::in_order(self.text(name)?)
    }

    fn crowd(&mut self, first: &'static str) -> Result<Crowd, String> {
        let (t, step) = (self.number(first)?, self.number_or("step", 0)?);
        Ok(Crowd { t, step, svc: self.text("svc")?.to_owned(), ids: self.ids("ids")? })
    }

    fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    /// The only field besides `t`: the conventions do not name that of a length.
    fn length(&mut self) -> Result<i64, String> {
        let others = |key: &&String| !matches!(key.as_str(), "op" | "t" | "comment");
        let mut names = self.table.keys().filter(others);
        let (Some(name), None) = (names.next(), names.next()) else {
            return Err(format!("one length is to be said: {:?}", self.table));
        };
        self.length_is_used = true;
        self.table[name].as_i64().ok_or_else(|| format!("{name} is a number"))
    }

    /// A field that nobody has asked for.
    fn leftover(&self) -> Option<&str> {
        if self.length_is_used {
            return None;
        }
        self.table
            .keys()
            .map(String::as_str)
            .find(|key| !matches!(*key, "op" | "comment") && !self.used.contains(key))
    }
}

fn read_op(value: &Value, knobs: &Knobs) -> Result<Op, String> {
    let table = value.as_object().ok_or("an operation is a table")?;
    let mut fields = Fields { table, used: Vec::new(), length_is_used: false };
    let name = table.get("op").and_then(Value::as_str).ok_or("an operation has a name")?;
    let op = match name {
        "register" => Op::Register(fields.crowd("t")?),
        "deregister" => Op::Deregister(fields.crowd("t")?),
        "beats" => {
            let (every, until) = (fields.number_or("every", 5_000)?, fields.number("until")?);
            Op::Beats { who: fields.crowd("from")?, every: every.max(1), until }
        }
        "provider" => {
            Op::Provider { stop_beats_first: fields.flag("stop_beats_first"), who: fields.crowd("t")? }
        }
        "shutdown" => {
            let svc = fields.get("svc").and_then(Value::as_str).unwrap_or_default().to_owned();
            let (t, step, ids) = (fields.number("t")?, fields.number_or("step", 0)?, fields.ids("ids")?);
            let stop_beats_first = fields.flag("stop_beats_first");
            Op::Shutdown { who: Crowd { t, step, svc, ids }, stop_beats_first }
        }
        "watch" => Op::Watch(read_watch(&mut fields, knobs)?),
        "subscribe" => {
            let svc = fields.text("svc")?.to_owned();
            Op::Subscribe { name: fields.name()?, t: fields.number_or("t", 0)?, svc }
        }
        _ => read_op_of_one(name, &mut fields)?,
    };
    match fields.leftover() {
        None => Ok(op),
        Some(field) => Err(format!("{name} has no {field:?}")),
    }
}

fn read_op_of_one(name: &str, fields: &mut Fields<'_>) -> Result<Op, String> {
    let t = fields.number("t")?;
    Ok(match name {
        "fetch" => Op::Fetch { t },
        "consumer" => Op::Consumer { name: fields.name()?, t, disk: read_disk(fields.get("disk"))? },
        "consumer_stop" => Op::ConsumerStop { name: fields.name()?, t },
        "consumer_start" => Op::ConsumerStart { name: fields.name()?, t },
        "registry_down" => Op::RegistryDown { t },
        "registry_restart" => Op::RegistryRestart { t },
        "registry_pause" if fields.table.contains_key("until") => {
            Op::RegistryPause { t, until: fields.number("until")? }
        }
        "registry_pause" => {
            let length = fields.length()?;
            Op::RegistryPause { t, until: t + u64::try_from(length).map_err(|_| "a pause has a length")? }
        }
        "clock_step" => Op::ClockStep { t, by: fields.length()? },
        _ => return Err(format!("no operation: {name:?}")),
    })
}

fn read_watch(fields: &mut Fields<'_>, knobs: &Knobs) -> Result<Watch, String> {
    let ack = match fields.get("ack") {
        Some(value) => ack(value)?,
        None => knobs.client.watch_ack,
    };
    Ok(Watch {
        t: fields.number("t")?,
        svc: fields.text("svc")?.to_owned(),
        rev: fields.number_or("rev", 0)? as u32,
        cur: match fields.table.get("cur") {
            Some(_) => fields.ids("cur")?,
            None => Vec::new(),
        },
        ack,
        gap: fields.number_or("gap", u64::from(knobs.client.watch_reissue_gap_ms))?,
        timeout: fields.number_or("timeout", u64::from(knobs.client.watch_timeout_ms))?,
    })
}

fn read_disk(value: Option<&Value>) -> Result<Disk, String> {
    match value {
        None | Some(Value::Null) => Ok(Disk::None),
        Some(map @ Value::Object(_)) => read_map(map).map(Disk::Map),
        Some(Value::String(_)) => Ok(Disk::Torn),
        Some(other) => Err(format!("no file: {other}")),
    }
}

/// Every vector in a file: a page's blocks of JSON, or a file that is one vector or a list of them.
pub(crate) fn vectors_of(path: &Path) -> Result<Vec<Vector>, String> {
    let at = |problem: String| format!("{}: {problem}", path.display());
    let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let is_page = path.extension().is_some_and(|kind| kind == "md");
    let blocks = if is_page { blocks(&text) } else { vec![text.as_str()] };
    let mut vectors = Vec::new();
    for block in blocks {
        let value: Value = serde_json::from_str(block).map_err(|error| at(error.to_string()))?;
        let of_the_block = if let Value::Array(values) = &value { values.as_slice() } else { &[value] };
        for vector in of_the_block {
            vectors.push(Vector::parse(vector).map_err(at)?);
        }
    }
    Ok(vectors)
}

/// The blocks of JSON in a page.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```json\n").skip(1).filter_map(|block| block.split_once("\n```")).map(|it| it.0).collect()
}
