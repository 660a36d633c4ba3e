//! The settings of a recorded server, as our server takes them.

use stillup::model::eureka::{Flavour, Release, ServerConfig};

use super::records::Experiment;

/// The one server's settings, and how often its own client fetches, ms.
pub(crate) fn server_config(experiment: &Experiment) -> Result<(ServerConfig, i64), String> {
    let netflix = experiment.flavour.as_deref().is_some_and(|flavour| flavour.starts_with("netflix"));
    let (flavour, name) = match &experiment.spring_cloud_netflix {
        Some(name) if !netflix => (Flavour::Spring, name),
        _ => (Flavour::Netflix, &experiment.eureka),
    };
    let release = Release::parse(name, flavour).map_err(|unknown| unknown.to_string())?;
    if release.eureka().to_string() != experiment.eureka {
        return Err(format!("{name} holds Eureka {}, recorded {}", release.eureka(), experiment.eureka));
    }
    let mut config = ServerConfig { rules: release.server_rules(), ..ServerConfig::defaults(flavour) };
    // Plain Netflix has a client of its own unless told otherwise; the recorder switches Spring's off.
    config.fetch_registry = flavour == Flavour::Netflix;
    let mut fetch_interval_ms = 30_000;
    let mut retries = None;
    let server = experiment.servers.values().next().ok_or("no server")?;
    for (name, value) in &server.settings {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set(&mut config, &mut fetch_interval_ms, &mut retries, name, &value)?;
    }
    if config.register_with_eureka && flavour == Flavour::Spring {
        config.registry_sync_retries = 5;
    }
    config.registry_sync_retries = retries.unwrap_or(config.registry_sync_retries);
    Ok((config, fetch_interval_ms))
}

fn set(
    config: &mut ServerConfig,
    fetch_interval_ms: &mut i64,
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
        "clientregisterwitheureka" => config.register_with_eureka = switch()?,
        "clientfetchregistry" => config.fetch_registry = switch()?,
        "clientregistryfetchintervalseconds" | "clientrefreshinterval" => {
            *fetch_interval_ms = i64::from(number()?) * 1_000;
        }
        _ => return Err(format!("a setting that the replay does not know: {name}")),
    }
    Ok(())
}
