#!/usr/bin/env bash
# genqlient 0.8.1 with gorilla/websocket 1.5.3, the client that its documentation shows, against a server of graphql-transport-ws: a `ping`,
# which the protocol lets a server send at any time, ends all subscriptions of the socket; and once there was a subscription, Close fails
# and leaves the connection open, because it sends the close frame and then, for each subscription, a `complete` after it.
# Needs Go 1.26.
# Seen: ping: `received message for unknown subscription ID ''`; plain: `failed to unsubscribe: websocket: close sent`, connections closed: 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'module finding\n\ngo 1.26\n' >go.mod
printf 'type Query { hello: Int! }\ntype Subscription { count: Int! }\n' >schema.graphql
echo 'subscription Count { count }' >operations.graphql
mkdir client
printf 'schema: schema.graphql\noperations: [operations.graphql]\ngenerated: client/generated.go\npackage: client\n' >genqlient.yaml
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"finding/client"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// serve answers a subscription with what its path says and one value.
func serve(w http.ResponseWriter, r *http.Request) {
	socket, err := (&websocket.Upgrader{Subprotocols: []string{"graphql-transport-ws"}}).Upgrade(w, r, nil)
	if err != nil {
		panic(err)
	}
	var it message
	for socket.ReadJSON(&it) == nil {
		switch it.Type {
		case "connection_init":
			socket.WriteJSON(message{Type: "connection_ack"})
		case "subscribe":
			if r.URL.Path == "/ping" {
				socket.WriteJSON(message{Type: "ping"})
			}
			socket.WriteJSON(message{Type: "next", ID: it.ID, Payload: json.RawMessage(`{"data":{"count":1}}`)})
		}
	}
}

// counted counts its ends.
type counted struct {
	net.Conn
	closed *int
}

func (it counted) Close() error {
	*it.closed++
	return it.Conn.Close()
}

// dialer is the one of genqlient's documentation, with counted connections.
type dialer struct{ closed *int }

func (it dialer) DialContext(ctx context.Context, url string, header http.Header) (graphql.WSConn, error) {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return counted{connection, it.closed}, err
	}
	gorilla := websocket.Dialer{NetDialContext: dial}
	connection, _, err := gorilla.DialContext(ctx, url, header)
	return connection, err
}

func run(url string) {
	closed, ctx := 0, context.Background()
	sockets := graphql.NewClientUsingWebSocket(url, dialer{&closed})
	failed, err := sockets.Start(ctx)
	if err != nil {
		panic(err)
	}
	events, _, err := client.Count(ctx, sockets)
	if err != nil {
		panic(err)
	}
	select {
	case it := <-events:
		fmt.Println("value:", it.Data.Count)
	case err := <-failed:
		fmt.Println("failed:", err)
	}
	fmt.Println("Close:", sockets.Close())
	fmt.Println("connections closed:", closed)
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(serve))
	for _, it := range []string{"/ping", "/plain"} {
		fmt.Println("=", it)
		run(strings.Replace(server.URL, "http", "ws", 1) + it)
	}
}
GO
go get github.com/Khan/genqlient@v0.8.1 github.com/gorilla/websocket@v1.5.3 golang.org/x/tools@v0.52.0 >get.log 2>&1
go run -mod=mod github.com/Khan/genqlient genqlient.yaml
go run -mod=mod . | tee seen.log
diff seen.log - <<'SEEN'
= /ping
failed: received message for unknown subscription ID ''
Close: failed to unsubscribe: websocket: close sent
connections closed: 0
= /plain
value: 1
Close: failed to unsubscribe: websocket: close sent
connections closed: 0
SEEN
echo "as stated: genqlient 0.8.1, gorilla/websocket 1.5.3"
