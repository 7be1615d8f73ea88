//! What outcomes are called in other languages (C30): one sentence for each code.
//!
//! The English text of an outcome ([`Stop::message`](crate::Stop::message)) also says what, where and
//! why; these are for a surface that speaks to people in their own language and shows the English
//! details below. Programs go by the code.

/// A language that people are spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English: the words of the gate itself.
    #[default]
    English,
    /// Portuguese.
    Portuguese,
    /// Spanish.
    Spanish,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::English, Language::Portuguese, Language::Spanish];

    /// Reads a language from a locale such as `pt_BR.UTF-8` or `es`. English and all others: `None`.
    pub fn from_locale(locale: &str) -> Option<Language> {
        match locale.split(['_', '-', '.', '@']).next() {
            Some("pt") => Some(Language::Portuguese),
            Some("es") => Some(Language::Spanish),
            _ => None,
        }
    }
}

/// The sentence for the code of an outcome ([`Reply::code`](crate::Reply::code)); `None` in English,
/// where the message says it, for `ok` and for what is no code.
pub fn sentence(code: &str, language: Language) -> Option<&'static str> {
    let (_, portuguese, spanish) = SENTENCES.iter().find(|(it, ..)| *it == code)?;
    match language {
        Language::English => None,
        Language::Portuguese => Some(portuguese),
        Language::Spanish => Some(spanish),
    }
}

/// Code, Portuguese, Spanish.
#[rustfmt::skip]
const SENTENCES: [(&str, &str, &str); 34] = [
    ("unknown_tool", "ferramenta desconhecida", "Tool no encontrada"),
    ("tool_unavailable", "ferramenta indisponível", "herramienta no disponible"),
    ("malformed_call", "a chamada não pode ser lida", "la llamada no se puede leer"),
    ("duplicate_id", "outra chamada deste turno tem o mesmo id; esta não foi executada", "otra llamada de este turno tiene el mismo id; esta no se ejecutó"),
    ("invalid_args", "argumento ausente ou inválido; nada foi executado", "Argumentos inválidos; no se ejecutó nada"),
    ("denied_by_review", "recusada por um revisor; nada foi executado", "rechazada por un revisor; no se ejecutó nada"),
    ("denied_by_policy", "comando bloqueado por uma regra; nada foi executado", "rechazada por una regla; no se ejecutó nada"),
    ("denied_by_person", "recusada por uma pessoa; nada foi executado", "Acción cancelada por usuario"),
    ("answered_by_person", "uma pessoa respondeu no lugar da ferramenta; nada foi aplicado", "una persona respondió en lugar de la herramienta; no se aplicó nada"),
    ("approver_failed", "quem devia aprovar falhou; nada foi executado", "falló quien debía aprobarla; no se ejecutó nada"),
    ("denied_by_checkpoint", "o ponto de controle não foi confirmado; nada foi executado", "el punto de control no se confirmó; no se ejecutó nada"),
    ("denied_by_reverse_thinking", "o raciocínio inverso desaconselhou a chamada; nada foi executado", "el razonamiento inverso desaconsejó la llamada; no se ejecutó nada"),
    ("check_crashed", "uma verificação falhou; nada foi executado", "falló una comprobación; no se ejecutó nada"),
    ("no_approver", "é preciso aprovação e não há ninguém para perguntar; nada foi executado", "No hay TTY para confirmar; no se ejecutó nada"),
    ("approval_expired", "ninguém aprovou a tempo; nada foi executado", "nadie la aprobó a tiempo; no se ejecutó nada"),
    ("dry_run_denied", "simulação: a chamada seria recusada", "[DRY-RUN] la llamada sería rechazada"),
    ("dry_run", "simulação: nada foi feito", "[DRY-RUN] no se hizo nada"),
    ("watched", "só observada; nada foi impedido", "solo observada; no se impidió nada"),
    ("watched_denied", "só observada: seria recusada; nada foi impedido", "solo observada: se habría rechazado; no se impidió nada"),
    ("timed_out", "a ferramenta passou do tempo e foi parada; parte do trabalho pode ter sido feita", "la herramienta excedió su tiempo y se detuvo; puede haber hecho parte del trabajo"),
    ("too_late", "o prazo já tinha passado; nada foi executado", "el plazo ya había vencido; no se ejecutó nada"),
    ("cancelled", "a chamada foi cancelada", "la llamada se canceló"),
    ("tool_panicked", "a ferramenta falhou de forma inesperada; parte do trabalho pode ter sido feita", "la herramienta falló de forma inesperada; puede haber hecho parte del trabajo"),
    ("changes_discarded", "alterações descartadas: nada foi aplicado", "cambios descartados: no se aplicó nada"),
    ("conflict", "os arquivos mudaram entretanto; nada foi escrito", "los archivos cambiaron entretanto; no se escribió nada"),
    ("commit_failed", "as alterações não puderam ser aplicadas", "los cambios no se pudieron aplicar"),
    ("executed_output_withheld", "a ferramenta foi executada, mas a saída foi retida; não repita a chamada", "la herramienta se ejecutó, pero su salida se retiene; no repita la llamada"),
    ("aborted", "uma pessoa encerrou o turno", "una persona terminó el turno"),
    ("too_deep", "ferramentas chamaram ferramentas em níveis demais; nada foi executado", "demasiados niveles de herramientas que llaman a herramientas; no se ejecutó nada"),
    ("audit_unavailable", "o registro não pode ser escrito; nada foi executado", "el registro no se puede escribir; no se ejecutó nada"),
    ("executed_unrecorded", "a ferramenta foi executada, mas o fim não foi registrado; não repita a chamada", "la herramienta se ejecutó, pero su final no quedó registrado; no repita la llamada"),
    ("parked", "a pergunta espera por uma resposta; nada foi executado", "la pregunta espera una respuesta; no se ejecutó nada"),
    ("ran_ahead", "executada antes da pergunta; as alterações ainda não foram aplicadas", "se ejecutó antes de la pregunta; los cambios aún no se aplicaron"),
    ("tool_failed", "a ferramenta falhou", "la herramienta falló"),
];
