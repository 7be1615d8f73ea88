"""Somebody in front of the page of a fleet, in a real browser with a virtual authenticator."""

from webdriver import until

PASSKEY = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}


class Person:
    def __init__(self, browser):
        self.browser = browser
        self.authenticator = browser.ask("POST", "/webauthn/authenticator", PASSKEY)

    def text(self, selector):
        return self.browser.script("return document.querySelector(arguments[0])?.textContent", selector)

    def click(self, selector):
        self.browser.script("document.querySelector(arguments[0]).click()", selector)

    def message(self):
        return self.text("#message") or ""

    def join(self, link, button="#join-passkey"):
        """Makes a key; the digits that its owner tells whoever signs it."""
        self.browser.go("about:blank")
        self.browser.go(link)
        until("the script", lambda: self.browser.script("return typeof join === 'function'"))
        self.click(button)
        until("the key", lambda: self.text("#digits") or self.message())
        assert self.text("#digits"), self.message()
        return self.text("#digits")

    def sign_in(self, page, button="#with-passkey"):
        self.browser.go(page)
        if self.text("#sign-in"):
            until("the script", lambda: self.browser.script("return typeof signIn === 'function' && !document.querySelector(arguments[0]).hidden", button))
            self.click(button)
            until("the inbox", lambda: self.text("nav") or self.message())
        assert self.text("nav"), self.message()

    def answerable(self, text):
        """Waits until the question is shown, its end was on the screen, and keys count again."""
        def look():
            shown = self.text("#question .lines") or ""
            if text not in shown:
                return False
            self.browser.script("const it = document.querySelector('.lines'); it.scrollTop = it.scrollHeight; scrollTo(0, document.documentElement.scrollHeight)")
            return not self.browser.script("return document.body.matches('.resting')")
        until(f"the question `{text}`", look)

    def yes(self, text):
        self.answerable(text)
        self.browser.keys("y")
        until("the answer", lambda: "on its way" in self.message() or "bad" in self.browser.script("return document.querySelector('#message').className"))
        assert "on its way" in self.message(), self.message()
