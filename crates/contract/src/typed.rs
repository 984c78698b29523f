//! Converts the payload of a stored document to the type of its schema.

use super::schema::SchemaId;
use super::spelling;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Converts the payload of a document to its type. Accepts the same spellings as `read`. `None` if the payload does not
/// match the type.
pub fn typed_payload<P: DeserializeOwned>(mut document: Value, schema: SchemaId) -> Option<P> {
    spelling::respell(&mut document, &schema.schema().json);
    serde_json::from_value(document.get_mut("payload")?.take()).ok()
}
