//! Runs against a server over TLS, whose certificate a file names.

use crate::service_kit::{Asked, read, reply};
use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use weir_load::{LoadOptions, Plan, PlanOverrides, RunOptions, run};

/// Serves each connection in a thread until the client ends; the thread that accepts ends with the process.
fn serve(config: ServerConfig) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("the configuration is sound");
            std::thread::spawn(move || {
                let mut reader = BufReader::new(StreamOwned::new(connection, socket));
                while let Some(Asked { path, .. }) = read(&mut reader) {
                    let bytes = reply(200, "", format!("{{\"path\":\"{path}\"}}"));
                    if reader.get_mut().write_all(&bytes).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn a_certificate_is_trusted_if_a_file_names_it() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("they fit");
    let url = format!("https://localhost:{}/", serve(config));
    let ca = std::env::temp_dir().join(format!("weir-load-ca-{}.pem", std::process::id()));
    std::fs::write(&ca, made.cert.pem()).expect("it is written");
    let ask = |ca: &Path| {
        let yaml =
            "load: {rate: 50, duration: 200ms}\noperations: {a: {get: /a, check: {equals: {path: /a}}}}";
        let mut plan = Plan::read(yaml, Path::new("."), Some(&url), LoadOptions::default()).expect("a plan");
        let ca = Some(ca.to_owned());
        plan.set(PlanOverrides { ca, ..PlanOverrides::default() }).expect("they are sound");
        run(&Arc::new(plan), RunOptions::default(), &mut |_| {}).expect("it runs")
    };
    let trusted = ask(&ca);
    std::fs::remove_file(&ca).expect("it was there");
    assert_eq!(
        (trusted.total.completed, trusted.total.error_count()),
        (10, 0),
        "{:?}",
        trusted.total.error_samples
    );
    assert_eq!(trusted.setup.protocol, "http1 tls");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    std::fs::write(&ca, other.cert.pem()).expect("it is written");
    let refused = ask(&ca);
    std::fs::remove_file(&ca).expect("it was there");
    assert_eq!((refused.total.completed, refused.total.errors["connect"]), (0, 10));
    assert_eq!(refused.total.latency.count, 0, "a refused connection is no fast answer");
}
