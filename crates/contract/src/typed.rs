//! The payload of a stored document as the type of its schema.

use super::schema::SchemaId;
use super::spelling;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The payload of a document, other spellings accepted as in `read`; none if it does not have the form of the type.
pub fn typed_payload<P: DeserializeOwned>(mut document: Value, schema: SchemaId) -> Option<P> {
    spelling::respell(&mut document, &schema.schema().json);
    serde_json::from_value(document.get_mut("payload")?.take()).ok()
}
