//! The settings of a recorded server, as our server takes them.

use stillup::model::eureka::{Flavour, Release, ServerConfig};

use super::records::Experiment;

/// Settings that a recording of one server may name and that change nothing in it: how it talks to peers and
/// regions, how long its own client waits, how it is called.
const IRRELEVANT: [&str; 33] = [
    "initialcapacityofresponsecache",
    "peereurekanodesupdateintervalms",
    "peereurekastatusrefreshtimeintervalms",
    "peernodetotalconnections",
    "peernodetotalconnectionsperhost",
    "peernodeconnectionidletimeoutseconds",
    "minthreadsforpeerreplication",
    "maxelementsinstatusreplicationpool",
    "maxthreadsforstatusreplication",
    "minthreadsforstatusreplication",
    "minavailableinstancesforpeerreplication",
    "enablereplicatedrequestcompression",
    "numberofreplicationretries",
    "shouldbatchreplication",
    "batchreplication",
    "remoteregionconnecttimeoutms",
    "remoteregionreadtimeoutms",
    "ratelimiterenabled",
    "clientserviceurldefaultzone",
    "clientserviceurldefault",
    "serviceurldefaultzone",
    "serviceurldefault",
    "clientenabled",
    "clienthealthcheckenabled",
    "clientprefersamezoneeureka",
    "clienteurekaserverconnecttimeoutseconds",
    "clienteurekaserverreadtimeoutseconds",
    "clientinstanceinforeplicationintervalseconds",
    "clientinitialinstanceinforeplicationintervalseconds",
    "instancehostname",
    "instanceappname",
    "instanceinstanceid",
    "instancepreferipaddress",
];

/// What matters of the client inside the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnClient {
    /// How often it fetches, ms.
    pub(crate) fetch_interval_ms: i64,
    /// How often it renews, ms.
    pub(crate) heartbeat_ms: i64,
    /// The duration of its lease, s.
    pub(crate) lease_s: i32,
}

/// The one server's settings, and those of its own client.
pub(crate) fn server_config(experiment: &Experiment) -> Result<(ServerConfig, OwnClient), String> {
    let netflix = experiment.flavour.as_deref().is_some_and(|flavour| flavour.starts_with("netflix"));
    let spring = experiment.spring_cloud_netflix.is_some() && !netflix;
    let flavour = if spring { Flavour::Spring } else { Flavour::Netflix };
    // The server's rules go by the Eureka inside, whatever is around it.
    let release = Release::parse(&experiment.eureka, Flavour::Netflix);
    let release = release.map_err(|unknown| format!("an Eureka that the replay does not know: {unknown}"))?;
    let mut config = ServerConfig { rules: release.server_rules(), ..ServerConfig::defaults(flavour) };
    // Plain Netflix has a client of its own unless told otherwise; the recorder switches Spring's off.
    config.fetch_registry = flavour == Flavour::Netflix;
    let mut own = OwnClient { fetch_interval_ms: 30_000, heartbeat_ms: 30_000, lease_s: 90 };
    let mut retries = None;
    let server = experiment.servers.values().next().ok_or("no server")?;
    for (name, value) in &server.settings {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set(&mut config, &mut own, &mut retries, name, &value)?;
    }
    if config.register_with_eureka && flavour == Flavour::Spring {
        config.registry_sync_retries = 5;
    }
    config.registry_sync_retries = retries.unwrap_or(config.registry_sync_retries);
    Ok((config, own))
}

fn set(
    config: &mut ServerConfig,
    own: &mut OwnClient,
    retries: &mut Option<u32>,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let bad = |error: &dyn std::fmt::Display| format!("{name} = {value}: {error}");
    let number = || value.parse::<u32>().map_err(|error| bad(&error));
    let switch = || value.parse::<bool>().map_err(|error| bad(&error));
    let uniform: String = ["eureka.server.", "eureka.instance.registry.", "eureka."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    match uniform.to_ascii_lowercase().as_str() {
        "enableselfpreservation" => config.enable_self_preservation = switch()?,
        "renewalpercentthreshold" => {
            config.renewal_percent_threshold = value.parse().map_err(|error| bad(&error))?;
        }
        "renewalthresholdupdateintervalms" => config.renewal_threshold_update_interval_ms = number()?,
        "expectedclientrenewalintervalseconds" => {
            config.expected_client_renewal_interval_seconds = number()?;
        }
        "evictionintervaltimerinms" => config.eviction_interval_timer_in_ms = number()?,
        "usereadonlyresponsecache" | "shouldusereadonlyresponsecache" => {
            config.use_read_only_response_cache = switch()?;
        }
        "responsecacheupdateintervalms" => config.response_cache_update_interval_ms = number()?,
        "responsecacheautoexpirationinseconds" => {
            config.response_cache_auto_expiration_in_seconds = number()?;
        }
        "retentiontimeinmsindeltaqueue" => config.retention_time_in_ms_in_delta_queue = number()?,
        "deltaretentiontimerintervalinms" => config.delta_retention_timer_interval_in_ms = number()?,
        "disabledelta" => config.disable_delta = switch()?,
        "syncwhentimestampdiffers" => config.sync_when_timestamp_differs = switch()?,
        "registrysyncretries" | "numberregistrysyncretries" => *retries = Some(number()?),
        "registrysyncretrywaitms" => config.registry_sync_retry_wait_ms = number()?,
        "waittimeinmswhensyncempty" => config.wait_time_in_ms_when_sync_empty = number()?,
        "expectednumberofclientssendingrenews" => {
            config.expected_number_of_clients_sending_renews = number()?;
        }
        "defaultopenfortrafficcount" => config.default_open_for_traffic_count = number()?,
        "clientregisterwitheureka" | "registrationenabled" => config.register_with_eureka = switch()?,
        "clientfetchregistry" | "shouldfetchregistry" => config.fetch_registry = switch()?,
        "clientregistryfetchintervalseconds" | "clientrefreshinterval" => {
            own.fetch_interval_ms = i64::from(number()?) * 1_000;
        }
        "clientfilteronlyupinstances" | "shouldfilteronlyupinstances" => {
            config.filter_only_up_instances = switch()?;
        }
        "instanceleaserenewalintervalinseconds" | "leaserenewalinterval" => {
            own.heartbeat_ms = i64::from(number()?) * 1_000;
        }
        "instanceleaseexpirationdurationinseconds" | "leaseduration" => {
            own.lease_s = value.parse().map_err(|error| bad(&error))?;
        }
        "peernodeconnecttimeoutms" => config.peer_node_connect_timeout_ms = number()?,
        "peernodereadtimeoutms" => config.peer_node_read_timeout_ms = number()?,
        "maxelementsinpeerreplicationpool" => config.max_elements_in_peer_replication_pool = number()?,
        "maxthreadsforpeerreplication" => config.max_threads_for_peer_replication = number()?,
        "maxtimeforreplication" => config.max_time_for_replication = number()?,
        known if IRRELEVANT.contains(&known) => {}
        _ => return Err(format!("a setting that the replay does not know: {name}")),
    }
    Ok(())
}
