//! Stages and events in files: by their names, as text. Within the program they stay what they are.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::model::stage::{EventKind, Stage};

/// What is written by its name.
macro_rules! by_name {
    ($($type:ty),+) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.name())
                }
            }

            impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    String::schema_name()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    String::json_schema(generator)
                }
            }
        )+
    };
}

by_name!(Stage, EventKind);
