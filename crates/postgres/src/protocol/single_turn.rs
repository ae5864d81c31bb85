//! A turn to be connected to a server that lets one connection in at a time.
//!
//! Such a server learns late that a connection has ended, hangs up on whoever comes before, and PGlite's ends as a whole if what it sent
//! is reset unread. So a turn ends once the server has ended its side, or after [`NOTICE_MAX`].

use super::stream::Stream;
use socket2::{SockRef, Socket};
use std::io::Read;
use std::net::Shutdown;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// The server has so long to notice that the connection has ended. Longer waits would keep the thread from its other work.
const NOTICE_MAX: Duration = Duration::from_millis(250);

/// A turn, held as long as the connection lives and until the server knows that it has ended.
#[derive(Debug)]
pub(crate) struct SingleTurn {
    /// The connection's socket, which stays open when the connection is dropped.
    socket: Option<Socket>,
    _permit: OwnedSemaphorePermit,
}

impl SingleTurn {
    /// The turn of the connection over `stream`.
    pub(crate) fn new(permit: OwnedSemaphorePermit, stream: &Stream) -> Self {
        let socket = match stream {
            Stream::Tcp(it) => SockRef::from(it).try_clone(),
            Stream::Unix(it) => SockRef::from(it).try_clone(),
            Stream::Tls(it) => SockRef::from(it.get_ref().0).try_clone(),
        };
        Self { socket: socket.ok(), _permit: permit }
    }
}

impl Drop for SingleTurn {
    fn drop(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let last = Instant::now() + NOTICE_MAX;
        // A socket that fails here has ended already.
        let is_open = socket.shutdown(Shutdown::Write).and_then(|()| socket.set_nonblocking(false)).is_ok();
        let mut rest = [0; 4096];
        while is_open && Instant::now() < last {
            let left = last.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let read = socket.set_read_timeout(Some(left)).and_then(|()| socket.read(&mut rest));
            if !matches!(read, Ok(1..)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::net::TcpStream;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_turn_ends_once_the_server_has_read_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let has_noticed = Arc::new(AtomicBool::new(false));
        let noticed = Arc::clone(&has_noticed);
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("a client comes");
            socket.write_all(b"nobody reads this").expect("it is sent");
            let end = socket.read(&mut [0]);
            noticed.store(true, Ordering::SeqCst);
            end
        });
        let turns = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&turns).acquire_owned().await.expect("it is free");
        let tcp = TcpStream::connect(address).await.expect("it listens");
        let mut byte = [0];
        tcp.readable().await.expect("the server has spoken");
        assert_eq!(tcp.peek(&mut byte).await.expect("it has"), 1);
        let stream = Stream::Tcp(tcp);
        let turn = SingleTurn::new(permit, &stream);
        drop(stream);
        assert_eq!(turns.available_permits(), 0);
        drop(turn);
        assert!(has_noticed.load(Ordering::SeqCst));
        assert_eq!(turns.available_permits(), 1);
        // A reset would be an error.
        assert_eq!(server.join().expect("it ends").expect("it is an end"), 0);
    }

    #[tokio::test]
    async fn a_server_that_does_not_notice_keeps_nobody_for_long() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let turns = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&turns).acquire_owned().await.expect("it is free");
        let stream = Stream::Tcp(TcpStream::connect(address).await.expect("it listens"));
        let turn = SingleTurn::new(permit, &stream);
        drop(stream);
        drop(turn);
        assert_eq!(turns.available_permits(), 1);
    }
}
