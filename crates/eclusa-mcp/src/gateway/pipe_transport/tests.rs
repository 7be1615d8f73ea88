//! Tests of pipe transport.

use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_is_given_up_and_nobody_waits_for_it() {
    let (ours, _theirs) = tokio::io::duplex(16);
    let (read, write) = tokio::io::split(ours);
    let last_error = LastError::default();
    let mut wire = PipeTransport::new(read, write, last_error.clone());
    let ping = || ClientRequest::PingRequest(Default::default());
    let mut sends = Vec::new();
    for id in 0..3 {
        let message = JsonRpcMessage::request(ping(), RequestId::Number(id));
        sends.push(tokio::spawn(wire.send(message)));
    }
    assert!(wire.receive().await.is_none());
    for sent in sends {
        assert!(sent.await.unwrap().is_err());
    }
    assert_eq!(last_error.take().as_deref(), Some("it does not read its input"));
    wire.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reads_slowly_is_waited_for() {
    let (ours, mut theirs) = tokio::io::duplex(16);
    let (read, write) = tokio::io::split(ours);
    let mut wire = PipeTransport::new(read, write, LastError::default());
    let ping = ClientRequest::PingRequest(Default::default());
    let sent = tokio::spawn(wire.send(JsonRpcMessage::request(ping, RequestId::Number(1))));
    while !sent.is_finished() {
        tokio::time::sleep(WRITE_TIMEOUT / 2).await;
        tokio::io::AsyncReadExt::read(&mut theirs, &mut [0; 4]).await.unwrap();
    }
    sent.await.unwrap().unwrap();
}
