//! `sources[].services`: overrides of `@source` settings in an SDL file.

use crate::config::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use weir_http::call::{ClientCertificate, TlsFiles};
use weir_http::sdl::Replaced;

/// One of `sources[].services`. Its texts are written as those of `@source`, with `{$config.name}` and `{$env.NAME}` in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Service {
    /// Instead of `baseURL`, or of `url`: `http://localhost:9000/v1`.
    pub base_url: Option<String>,
    /// Instead of `path`: `$(['v2', $config.tenant])`.
    pub path: Option<String>,
    /// Instead of `queryParams`: `key: $env.KEY`.
    pub query_params: Option<String>,
    /// Headers that every call sends, by name: instead of one of the source that is there. The client's is
    /// `{$request.headers.authorization}`.
    pub headers: BTreeMap<String, Secret>,
    /// Instead of `isSuccess`: `$.ok`.
    pub is_success: Option<String>,
    /// Instead of `errors`.
    pub errors: ServiceErrors,
    /// Files of certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<ServiceTls>,
}

/// `sources[].services.tls`: files in PEM, read when the configuration is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceTls {
    /// Certificate that is shown to the service, followed by those of its issuers.
    pub certificate: Option<PathBuf>,
    /// Private key of `certificate`, without a password.
    pub key: Option<PathBuf>,
    /// Certificates that are trusted besides the system's, instead of `ca` beside `file`.
    pub ca: Option<PathBuf>,
}

/// `sources[].services.errors`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceErrors {
    /// Instead of `message`: a text.
    pub message: Option<String>,
    /// Instead of `extensions`: an object.
    pub extensions: Option<String>,
}

impl Service {
    /// # Errors
    /// Two names that differ in the case of letters alone: of one header only one value would be sent. A certificate without its key.
    pub(crate) fn check(&self) -> Result<(), String> {
        let lacks = |named: &str, other: &str| Err(format!("`tls`: `{named}` needs `{other}`; name both"));
        match self.tls.as_ref().map(|it| (it.certificate.is_some(), it.key.is_some())) {
            Some((true, false)) => return lacks("certificate", "key"),
            Some((false, true)) => return lacks("key", "certificate"),
            Some((true, true) | (false, false)) | None => {}
        }
        let mut names: Vec<(String, &str)> =
            self.headers.keys().map(|it| (it.to_ascii_lowercase(), it.as_str())).collect();
        names.sort_unstable();
        match names.windows(2).find(|it| it[0].0 == it[1].0) {
            Some(twice) => {
                let one = twice[0].1;
                let other = twice[1].1;
                Err(format!("`headers`: `{one}` and `{other}` are one header; leave one out"))
            }
            None => Ok(()),
        }
    }

    /// Converts the settings for the reader of the SDL file.
    pub fn to_overrides(&self) -> Replaced {
        let header = |(name, value): (&String, &Secret)| (name.clone(), value.expose().to_owned());
        Replaced {
            base_url: self.base_url.clone(),
            path: self.path.clone(),
            query_params: self.query_params.clone(),
            headers: self.headers.iter().map(header).collect(),
            is_success: self.is_success.clone(),
            error_message: self.errors.message.clone(),
            error_extensions: self.errors.extensions.clone(),
            tls: self.tls.as_ref().map(ServiceTls::to_files).unwrap_or_default(),
        }
    }

    /// The files of certificates.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.tls.iter().flat_map(|it| it.certificate.iter().chain(&it.key).chain(&it.ca))
    }

    /// Like [`Self::files`], to change them.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.tls.iter_mut().flat_map(|it| it.certificate.iter_mut().chain(&mut it.key).chain(&mut it.ca))
    }
}

impl ServiceTls {
    fn to_files(&self) -> TlsFiles {
        let client = self.certificate.clone().zip(self.key.clone());
        let client = client.map(|(certificate, key)| ClientCertificate { certificate, key });
        TlsFiles { ca: self.ca.clone(), client }
    }
}
