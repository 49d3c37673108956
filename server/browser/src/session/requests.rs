//! Requests as they come, by the table of [`tilefit_answers::requests`].

use ls_types::{CodeLens, CompletionItem, InlayHint, Uri};
use serde::Serialize;
use serde_json::Value;
use tilefit_analysis::Cancellable;
use tilefit_answers::requests::{Asker, Receiver, Request, receive};
use tilefit_answers::{self as answers, UnresolvedHint, UnresolvedLens, View};

use super::{METHOD_NOT_FOUND, Refusal, Session, read};

/// Codes of LSP.
const CONTENT_MODIFIED: i64 = -32801;
const REQUEST_FAILED: i64 = -32803;

impl Session {
    pub(super) fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        match method {
            "initialize" => to_value(self.initialize(read(params)?)),
            "shutdown" => Ok(Value::Null),
            "completionItem/resolve" => {
                to_value(answers::resolve_completion(read::<CompletionItem>(params)?, self.abilities.shows))
            }
            "inlayHint/resolve" => self.resolve_hint(params),
            "codeLens/resolve" => self.resolve_lens(params),
            _ => receive(&mut Answering(self), method, params).unwrap_or_else(|| {
                Err(Refusal { code: METHOD_NOT_FOUND, message: format!("there is no method {method} here") })
            }),
        }
    }

    fn asker(&self) -> Asker {
        Asker { abilities: self.abilities, write_setting: None }
    }

    fn resolve_hint(&mut self, params: Value) -> Result<Value, Refusal> {
        let hint: InlayHint = read(params)?;
        match UnresolvedHint::of(&hint) {
            Some(unresolved) => {
                self.ask(unresolved.uri(), |view| answers::resolve_inlay_hint(view, hint.clone(), &unresolved))
            }
            None => to_value(hint),
        }
    }

    fn resolve_lens(&mut self, params: Value) -> Result<Value, Refusal> {
        let lens: CodeLens = read(params)?;
        let asker = self.asker();
        match UnresolvedLens::of(&lens) {
            Some(unresolved) => self.ask(unresolved.uri(), |view| {
                Ok(answers::resolve_code_lens(view, lens.range, &unresolved)?.map(|lens| asker.with_command(lens)))
            }),
            None => to_value(lens),
        }
    }

    /// Of the newest text.
    fn asked<T>(&mut self, uri: &Uri, answer: impl FnOnce(&View) -> Cancellable<T>) -> Result<T, Refusal> {
        self.hand_texts_to_analysis();
        let view = self.view(uri).ok_or_else(|| Refusal::of_params(format!("{} is not open", uri.as_str())))?;
        let overtaken = |_| Refusal { code: CONTENT_MODIFIED, message: "the document was edited meanwhile".to_owned() };
        answer(&view).map_err(overtaken)
    }

    fn ask<T: Serialize>(&mut self, uri: &Uri, answer: impl FnOnce(&View) -> Cancellable<T>) -> Result<Value, Refusal> {
        to_value(self.asked(uri, answer)?)
    }
}

struct Answering<'a>(&'a mut Session);

impl Receiver for Answering<'_> {
    type Answered = Result<Value, Refusal>;

    fn receive<R: Request>(&mut self, params: Value) -> Self::Answered {
        let params: R::Params = read(params)?;
        R::check(&params).map_err(Refusal::of_params)?;
        let asker = self.0.asker();
        let answer = self.0.asked(R::uri(&params), |view| R::answer(view, &params, &asker))?;
        to_value(answer.map_err(|message| Refusal { code: REQUEST_FAILED, message })?)
    }
}

fn to_value(answer: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(Refusal::of_params)
}
