//! Servers that take long to start: whom they keep waiting, and whether they come up.

use super::*;

/// The same scene, with a server that begins to listen only after a while; `None` never does.
fn delayed(scene: &mut Scene, slow: &'static str, after: Option<Duration>) {
    let serve = scene.serve.clone();
    scene.serve = Arc::new(move |name, pipe| {
        if name != slow {
            return serve(name, pipe);
        }
        let (serve, name) = (serve.clone(), name.to_owned());
        tokio::spawn(async move {
            match after {
                Some(after) => tokio::time::sleep(after).await,
                None => std::future::pending().await,
            }
            serve(&name, pipe);
        });
    });
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_start_delays_no_list_and_no_call_of_another() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.second = Some("slow");
        scene.settings.start = Duration::from_secs(3600);
        delayed(&mut scene, "slow", None);
        let began = tokio::time::Instant::now();
        let stage = scene.open_at_once().await;
        let tools = stage.client.list_all_tools().await.unwrap();
        assert!(tools.iter().any(|it| it.name == theirs("test_simple_text")), "{tools:?}");
        assert!(!stage.call(&theirs("test_simple_text"), json!({})).await.is_error.unwrap());
        // The clock stands still but for those who wait.
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

/// Whoever wraps one server has nothing else to list: it waits as it would without us.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_wrapped_alone_is_waited_for() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.plain = true;
        scene.settings.start = Duration::from_secs(60);
        delayed(&mut scene, "fixture", Some(Duration::from_secs(25)));
        let stage = scene.open_at_once().await;
        let tools = stage.client.list_all_tools().await.unwrap();
        assert!(tools.iter().any(|it| it.name == "test_simple_text"), "{eras:?} {tools:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_servers_those_that_are_not_there_yet_are_told_of() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.second = Some("slow");
        scene.settings.start = Duration::from_secs(3600);
        delayed(&mut scene, "slow", None);
        let tools = scene.open_at_once().await.client.list_all_tools().await.unwrap();
        let said = tools.iter().find(|it| it.name == "call_tool").unwrap().description.clone();
        let said = said.unwrap_or_default();
        assert!(said.contains("`slow` has not started yet"), "{eras:?} {said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_of_either_era_comes_up_however_slowly_it_starts() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.settings.start = Duration::from_secs(60);
        delayed(&mut scene, "fixture", Some(Duration::from_secs(25)));
        let stage = scene.open_at_once().await;
        for _ in 0..300 {
            if stage.condition().down.is_none() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(stage.condition().down, None, "{eras:?}");
        let result = stage.call(&theirs("test_simple_text"), json!({})).await;
        assert_eq!(result.is_error, Some(false), "{eras:?}");
    }
}
