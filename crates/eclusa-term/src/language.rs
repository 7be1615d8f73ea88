//! The language of the person at the terminal, and what the terminal says in it.
//!
//! Only what a person reads on a terminal is said in another language than English: questions, the
//! outcome of a call, undo and redo. What a model or a program reads stays as it is.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicU8, Ordering},
};

use eclusa::catalogue::Language;

#[cfg(test)]
mod tests;

/// The language of this process, by its place in [`Language::ALL`].
static CURRENT: AtomicU8 = AtomicU8::new(0);

/// Sets the language of this process.
pub fn configure(language: Language) {
    let number = Language::ALL.iter().position(|it| *it == language).unwrap_or_default();
    CURRENT.store(u8::try_from(number).unwrap_or_default(), Ordering::Relaxed);
}

/// The language of this process: English unless [`configure`] was told another.
pub fn current() -> Language {
    let number = usize::from(CURRENT.load(Ordering::Relaxed));
    Language::ALL.get(number).copied().unwrap_or_default()
}

/// The language that variables of the environment name, by the rules of POSIX: the first of
/// `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty decides.
pub fn from_variables(read: impl Fn(&str) -> Option<String>) -> Language {
    let said = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(read);
    let first = said.into_iter().find(|it| !it.is_empty());
    first.and_then(|it| Language::from_locale(&it)).unwrap_or_default()
}

/// Something that the terminal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phrase {
    /// The question about changes.
    ApplyChanges,
    /// The question about a call.
    RunIt,
    /// Enter alone is no answer.
    TypeYesOrNo,
    /// Something else is no answer: what was typed stands in its place.
    NotAnAnswer,
    /// Why the person says no.
    Why,
    /// What the person answers in place of the tool.
    Instead,
    /// What a grant holds for.
    ForThisSession,
    /// The rule that would be written, and in which file.
    RuleForWorkspace,
    /// How to write it for every workspace.
    RuleForEverywhere,
    /// The question about the rule.
    AddRule,
    /// An editor left everything as it was.
    NothingChanged,
    /// An answer: show all changes.
    ShowAll,
    /// An answer: choose files.
    PickFiles,
    /// Before an outcome: the call was refused.
    Refused,
    /// Before an outcome: the call failed.
    Failed,
    /// Before an outcome: the call waits for an answer.
    Waiting,
    /// Before what is good to know.
    Warning,
    /// Where all of a long output is: the reference stands in its place.
    OutputCut,
    /// Changes were applied: the number of the call stands in its place.
    Applied,
    /// Changes can still be applied: the number of the call stands in its place.
    ApplyAfterAll,
    /// The person discarded the changes.
    Discarded,
    /// The person interrupted the command.
    Interrupted,
    /// Calls that were undone stand in its place.
    Undone,
    /// Calls that were redone stand in its place.
    Redone,
    /// A call whose changes cannot be undone stands in its place.
    CannotUndo,
    /// How to redo: the number of the undo stands in its place.
    Redo,
}

impl Phrase {
    /// The phrase in the language of this process.
    pub fn text(self) -> &'static str {
        self.text_in(current())
    }

    /// The phrase, with this in place of each `{}`.
    pub fn with(self, what: impl std::fmt::Display) -> String {
        self.text().replace("{}", &what.to_string())
    }

    /// The phrase in a language.
    pub fn text_in(self, language: Language) -> &'static str {
        let (english, portuguese, spanish) = self.texts();
        match language {
            Language::English => english,
            Language::Portuguese => portuguese,
            Language::Spanish => spanish,
        }
    }

    #[rustfmt::skip]
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Phrase::ApplyChanges => ("Apply these changes?", "Aplicar estas alterações?", "¿Aplicar estos cambios?"),
            Phrase::RunIt => ("Run it?", "Executar?", "¿Ejecutar?"),
            Phrase::TypeYesOrNo => ("Please type y or n (? for help)", "Digite y (sim) ou n (não); ? mostra a ajuda", "Escriba y (sí) o n (no); ? muestra la ayuda"),
            Phrase::NotAnAnswer => ("`{}` is not an answer: type y or n (? for help)", "`{}` não é uma resposta: digite y (sim) ou n (não); ? mostra a ajuda", "`{}` no es una respuesta: escriba y (sí) o n (no); ? muestra la ayuda"),
            Phrase::Why => ("Why? (shown to the model; may be empty) ", "Por quê? (o modelo verá; pode ficar vazio) ", "¿Por qué? (el modelo lo verá; puede quedar vacío) "),
            Phrase::Instead => ("Result for the model, as yours (empty: back): ", "Resultado para o modelo, como seu (vazio: voltar): ", "Resultado para el modelo, como suyo (vacío: volver): "),
            Phrase::ForThisSession => ("s: {}, for the rest of this session", "s: {}, até o fim desta sessão", "s: {}, hasta el final de esta sesión"),
            Phrase::RuleForWorkspace => ("This rule would be added for this workspace ({}):", "Esta regra seria adicionada para este espaço de trabalho ({}):", "Esta regla se añadiría para este espacio de trabajo ({}):"),
            Phrase::RuleForEverywhere => ("Type `everywhere` to add it for every workspace ({}).", "Digite `everywhere` para adicioná-la em todos os espaços de trabalho ({}).", "Escriba `everywhere` para añadirla en todos los espacios de trabajo ({})."),
            Phrase::AddRule => ("Add the rule and run the call? [y/n/everywhere] ", "Adicionar a regra e executar a chamada? [y/n/everywhere] ", "¿Añadir la regla y ejecutar la llamada? [y/n/everywhere] "),
            Phrase::NothingChanged => ("nothing was changed", "nada foi alterado", "no se cambió nada"),
            Phrase::ShowAll => ("  d  show all of the changes", "  d  mostrar todas as alterações", "  d  mostrar todos los cambios"),
            Phrase::PickFiles => ("  p  pick: yes or no to each file; the rest is discarded", "  p  escolher: sim ou não para cada arquivo; o resto é descartado", "  p  elegir: sí o no para cada archivo; el resto se descarta"),
            Phrase::Refused => ("refused:", "recusada:", "rechazada:"),
            Phrase::Failed => ("failed:", "falhou:", "falló:"),
            Phrase::Waiting => ("waiting:", "aguardando:", "en espera:"),
            Phrase::Warning => ("warning:", "aviso:", "aviso:"),
            Phrase::OutputCut => ("output cut; `eclusa output {}` prints all of it", "saída cortada; `eclusa output {}` mostra tudo", "salida cortada; `eclusa output {}` la muestra completa"),
            Phrase::Applied => ("applied as call {}; `eclusa undo {}` undoes it", "alterações aplicadas (chamada {}); `eclusa undo {}` desfaz", "cambios aplicados (llamada {}); `eclusa undo {}` los deshace"),
            Phrase::ApplyAfterAll => ("`eclusa changes apply {}` applies them anyway", "`eclusa changes \
            apply {}` aplica as alterações mesmo assim", "`eclusa changes apply {}` aplica los cambios \
            de todos modos"),
            Phrase::Discarded => ("changes discarded: nothing was changed", "alterações descartadas: nada foi alterado", "cambios descartados: no se cambió nada"),
            Phrase::Interrupted => ("interrupted: nothing was changed", "interrompido: nada foi alterado", "interrumpido: no se cambió nada"),
            Phrase::Undone => ("undone: {}", "desfeito: chamada {}", "deshecho: llamada {}"),
            Phrase::Redone => ("redone: {}", "refeito: chamada {}", "rehecho: llamada {}"),
            Phrase::CannotUndo => ("call {} cannot be undone", "a chamada {} não pode ser desfeita", "la llamada {} no se puede deshacer"),
            Phrase::Redo => ("`eclusa redo {}` redoes it", "`eclusa redo {}` refaz", "`eclusa redo {}` lo rehace"),
        }
    }
}

/// What a person is told of an outcome: in their language by its code, with the exact words of the
/// gate on the next line; in English those words alone.
pub fn outcome<'a>(code: &str, message: &'a str) -> Cow<'a, str> {
    match eclusa::catalogue::sentence(code, current()) {
        Some(sentence) => Cow::Owned(format!("{sentence}\n  {message}")),
        None => Cow::Borrowed(message),
    }
}

/// A yes or a no in a language that this program speaks.
pub fn is_yes(word: &str) -> bool {
    let spoken = match current() {
        Language::English => &[][..],
        Language::Portuguese => &["sim"],
        Language::Spanish => &["sí", "si"],
    };
    ["y", "yes"].contains(&word) || spoken.contains(&word)
}

/// The same for a no.
pub fn is_no(word: &str) -> bool {
    ["n", "no"].contains(&word)
        || current() == Language::Portuguese && ["não", "nao"].contains(&word)
}
