//! `weir mock`: serves mock services from a scenario, to test a gateway without its services.

use super::print;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use weir_load::Scenario;

/// Serves the scenario in `file` until it is interrupted.
pub(super) fn mock(file: &Path, listen: SocketAddr) -> Result<ExitCode, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|cause| format!("{shown} cannot be read: {cause}"))?;
    let scenario = Scenario::read(&text).map_err(|mistake| format!("{shown}:{mistake}"))?;
    let fail =
        |cause: std::io::Error| format!("{listen} cannot be listened to: {cause}; name another by --listen");
    let listener = TcpListener::bind(listen).map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    let mut words = format!("serving {shown} at http://{address}; counts at http://{address}/__stats\n");
    for name in scenario.names() {
        words.push_str(&format!("  {name}\n"));
    }
    print(&words)?;
    let stopped = async {
        // Without a handler, the signal's default action ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    weir_load::serve(scenario, listener, stopped).map_err(|cause| cause.to_string())?;
    Ok(ExitCode::SUCCESS)
}
