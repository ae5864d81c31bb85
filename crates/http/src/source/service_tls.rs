//! Files of certificates by service: a service's own, or those of its file.

use crate::call::TlsFiles;
use crate::sdl::Replaced;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of certificates of the services of one file.
pub(super) struct ServiceTls {
    ca: Option<PathBuf>,
    own: BTreeMap<String, TlsFiles>,
}

impl ServiceTls {
    /// The files of `services`, and `ca` for all of them.
    pub(super) fn new(ca: Option<&Path>, services: &BTreeMap<String, Replaced>) -> Self {
        let own = services.iter().map(|(name, it)| (name.clone(), it.tls.clone())).collect();
        Self { ca: ca.map(Into::into), own }
    }

    /// The files of `service`, whose own `ca` stands in place of the file's.
    pub(super) fn of(&self, service: &str) -> TlsFiles {
        let own = self.own.get(service).cloned().unwrap_or_default();
        TlsFiles { ca: own.ca.or_else(|| self.ca.clone()), client: own.client }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_its_own_certificates_before_those_of_the_file() {
        let own = |ca: Option<&str>| Replaced {
            tls: TlsFiles { ca: ca.map(Into::into), client: None },
            ..Replaced::default()
        };
        let services = BTreeMap::from([("a".to_owned(), own(Some("a.pem"))), ("b".to_owned(), own(None))]);
        let tls = ServiceTls::new(Some(Path::new("all.pem")), &services);
        for (service, expected) in [("a", "a.pem"), ("b", "all.pem"), ("c", "all.pem")] {
            assert_eq!(tls.of(service).ca.as_deref(), Some(Path::new(expected)), "{service}");
        }
    }
}
