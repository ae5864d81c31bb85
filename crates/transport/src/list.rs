//! Lists of requests in one body.

use crate::parameters::{Params, Unusable, params};
use crate::refusal::Refusal;
use weir_engine::errors::error_text::error_body;
use weir_language::json::JsonRef;

/// Checks the number of requests in a list, of which `batch_max` are allowed.
/// # Errors
/// There are none, too many, or lists are not allowed at all.
pub fn check_list(count: usize, batch_max: usize) -> Result<(), Refusal> {
    match count {
        _ if batch_max == 0 => Err(Refusal::bad_request(Unusable::NoObject.message())),
        0 => Err(Refusal::bad_request("the list holds no request")),
        _ if count > batch_max => Err(Refusal::long_list(count, batch_max)),
        _ => Ok(()),
    }
}

/// The parameters of one request of a list.
/// # Errors
/// The answer to an item that is no usable request.
pub fn item_params(item: JsonRef<'_>) -> Result<Params<'_>, Vec<u8>> {
    params(item).map_err(|it| error_body(it.message(), it.persisted_code().unwrap_or("BAD_REQUEST"), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_some_requests_and_not_too_many() {
        let code = |count, batch_max| check_list(count, batch_max).map_err(|it| it.code);
        assert_eq!((code(1, 1), code(2, 2)), (Ok(()), Ok(())));
        assert_eq!(
            (code(3, 2), code(0, 2), code(1, 0)),
            (Err("LIMIT_BATCH"), Err("BAD_REQUEST"), Err("BAD_REQUEST"))
        );
    }
}
