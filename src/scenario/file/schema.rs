//! The JSON schema of the format, made from the tables that the check itself uses: for editors, which complete
//! and mark keys while a scenario is written.

use serde_json::{Value, json};

use crate::scenario::file::format::TOP;

/// The JSON schema (draft 2020-12) of a scenario file.
pub fn json_schema() -> Value {
    let mut schema = TOP.schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("stillup scenario");
    schema["required"] = json!(["application"]);
    schema["properties"]["application"]["minItems"] = json!(1);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_sections_and_their_ranges() {
        let schema = json_schema();
        let server = &schema["properties"]["eureka"]["properties"]["server"]["properties"];
        assert_eq!(server["eviction-interval-timer-in-ms"]["minimum"], json!(1));
        assert_eq!(schema["properties"]["application"]["items"]["required"], json!(["name"]));
        assert_eq!(schema["properties"]["fault"]["items"]["oneOf"].as_array().map(Vec::len), Some(21));
        // What hits only instances has neither `server` nor `servers` among its targets: four of six.
        let verbs = &schema["properties"]["fault"]["items"]["properties"];
        assert_eq!(verbs["stop"]["oneOf"].as_array().map(Vec::len), Some(4));
        assert_eq!(verbs["partition"]["oneOf"].as_array().map(Vec::len), Some(6));
        let capacity = &schema["properties"]["server"]["properties"]["capacity"];
        assert_eq!(capacity["required"], json!(["threads"]));
        assert!(schema["properties"]["start"].get("required").is_none());
    }
}
