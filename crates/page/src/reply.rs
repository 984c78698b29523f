//! Answers of the server: a status, a type and a body.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};

pub fn plain(status: StatusCode, text: &str) -> Response<Body> {
    typed(status, "text/plain; charset=utf-8", text.to_string())
}

pub fn page(status: StatusCode, html: String) -> Response<Body> {
    typed(status, "text/html; charset=utf-8", html)
}

pub fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
