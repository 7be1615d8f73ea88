//! What stands inside words: substitutions, parameters, arithmetic, patterns.
//!
//! Where the tree has both a typed view and a view as a word, exactly one is followed: both would
//! double the work at every level.

use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, BourneParameterExpansion,
    ConditionalExpr, HeredocBody, HeredocBodyPart, ParameterExpansion, ParameterExpansionSyntax,
    ParameterOp, Pattern, PatternPart, SourceText, Subscript, Word, WordPart, WordPartNode,
};

use super::{ScriptWalk, Work, offset};
use crate::syntax::outline::Span;

impl<'a> ScriptWalk<'_, 'a> {
    pub(super) fn part(&mut self, node: &'a WordPartNode, context: usize) {
        let span = offset(node.span);
        match &node.kind {
            WordPart::Literal(_) | WordPart::Variable(_) => {}
            WordPart::SingleQuoted { .. } => self.outline.literals.push(span),
            WordPart::ZshQualifiedGlob(_) => self.outline.fail("this is not bash", span.start),
            WordPart::DoubleQuoted { parts, .. } => self.stack.push((Work::Parts(parts), context)),
            WordPart::CommandSubstitution { body, .. } => {
                let quoted = self.source.as_bytes().get(span.start) == Some(&b'`');
                self.substitution(body, span, if quoted { "`…`" } else { "$(…)" }, context);
            }
            WordPart::ProcessSubstitution { body, is_input } => {
                self.substitution(body, span, if *is_input { "<(…)" } else { ">(…)" }, context);
            }
            WordPart::ArithmeticExpansion { expression_word_ast, .. } => {
                self.outline.arithmetic.push(span);
                self.stack.push((Work::Word(expression_word_ast), context));
            }
            WordPart::Parameter(parameter) => self.parameter(parameter, span, context),
            WordPart::ParameterExpansion {
                reference, operator, operand, operand_word_ast, ..
            } => {
                self.outline.parameters.push(span);
                self.stack.push((Work::Reference(reference), context));
                self.operation(operator, operand.as_deref(), operand_word_ast.as_deref(), context);
            }
            WordPart::Length(reference)
            | WordPart::ArrayAccess(reference)
            | WordPart::ArrayLength(reference)
            | WordPart::ArrayIndices(reference)
            | WordPart::Transformation { reference, .. } => {
                self.outline.parameters.push(span);
                self.stack.push((Work::Reference(reference), context));
            }
            WordPart::Substring { reference, offset_word_ast, length_word_ast, .. }
            | WordPart::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.outline.parameters.push(span);
                self.stack.push((Work::Reference(reference), context));
                self.stack.push((Work::Word(offset_word_ast), context));
                self.push_all(length_word_ast.iter().map(|it| Work::Word(it)), context);
            }
            WordPart::IndirectExpansion {
                reference, operator, operand, operand_word_ast, ..
            } => {
                self.outline.parameters.push(span);
                self.stack.push((Work::Reference(reference), context));
                if let Some(operator) = operator {
                    self.operation(
                        operator,
                        operand.as_deref(),
                        operand_word_ast.as_deref(),
                        context,
                    );
                }
            }
            WordPart::PrefixMatch { .. } => self.outline.parameters.push(span),
        }
    }

    fn substitution(
        &mut self,
        body: &'a shuck_ast::StmtSeq,
        span: Span,
        how: &str,
        context: usize,
    ) {
        self.outline.substitutions.push(span);
        let inside = self.via(context, how);
        self.stack.push((Work::Seq(body), inside));
    }

    fn parameter(&mut self, parameter: &'a ParameterExpansion, span: Span, context: usize) {
        use BourneParameterExpansion as Form;
        self.outline.parameters.push(span);
        let ParameterExpansionSyntax::Bourne(form) = &parameter.syntax else {
            self.outline.fail("this is not bash", span.start);
            return;
        };
        match form {
            Form::Access { reference }
            | Form::Length { reference }
            | Form::Indices { reference }
            | Form::Transformation { reference, .. } => {
                self.stack.push((Work::Reference(reference), context));
            }
            Form::Indirect { reference, operator, operand, operand_word_ast, .. } => {
                self.stack.push((Work::Reference(reference), context));
                if let Some(operator) = operator {
                    self.operation(
                        operator,
                        operand.as_ref(),
                        operand_word_ast.as_deref(),
                        context,
                    );
                }
            }
            Form::PrefixMatch { .. } => {}
            Form::Slice { reference, offset_word_ast, length_word_ast, .. } => {
                self.stack.push((Work::Reference(reference), context));
                self.stack.push((Work::Word(offset_word_ast), context));
                self.push_all(length_word_ast.iter().map(|it| Work::Word(it)), context);
            }
            Form::Operation { reference, operator, operand, operand_word_ast, .. } => {
                self.stack.push((Work::Reference(reference), context));
                self.operation(operator, operand.as_ref(), operand_word_ast.as_deref(), context);
            }
        }
    }

    fn operation(
        &mut self,
        operator: &'a ParameterOp,
        operand: Option<&SourceText>,
        word: Option<&'a Word>,
        context: usize,
    ) {
        match (word, operand) {
            (Some(word), _) => self.stack.push((Work::Word(word), context)),
            (None, Some(text)) => {
                self.outline.fail("a default that could not be read", offset(text.span()).start);
            }
            (None, None) => {}
        }
        match operator {
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => {
                self.stack.push((Work::Pattern(pattern), context));
            }
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.stack.push((Work::Pattern(pattern), context));
                self.stack.push((Work::Word(replacement_word_ast), context));
            }
            ParameterOp::UseDefault
            | ParameterOp::AssignDefault
            | ParameterOp::UseReplacement
            | ParameterOp::Error
            | ParameterOp::UpperFirst
            | ParameterOp::UpperAll
            | ParameterOp::LowerFirst
            | ParameterOp::LowerAll => {}
        }
    }

    pub(super) fn subscript(&mut self, subscript: &'a Subscript, context: usize) {
        match (&subscript.word_ast, &subscript.arithmetic_ast) {
            (Some(word), _) => self.stack.push((Work::Word(word), context)),
            (None, Some(ast)) => self.stack.push((Work::Arithmetic(ast), context)),
            (None, None) => {}
        }
    }

    pub(super) fn arithmetic(&mut self, node: &'a ArithmeticExprNode, context: usize) {
        match &node.kind {
            ArithmeticExpr::Number(_) | ArithmeticExpr::Variable(_) => {}
            ArithmeticExpr::Indexed { index, .. } => {
                self.stack.push((Work::Arithmetic(index), context))
            }
            ArithmeticExpr::ShellWord(word) => self.stack.push((Work::Word(word), context)),
            ArithmeticExpr::Parenthesized { expression: inner }
            | ArithmeticExpr::Unary { expr: inner, .. }
            | ArithmeticExpr::Postfix { expr: inner, .. } => {
                self.stack.push((Work::Arithmetic(inner), context));
            }
            ArithmeticExpr::Binary { left, right, .. } => {
                self.stack.push((Work::Arithmetic(left), context));
                self.stack.push((Work::Arithmetic(right), context));
            }
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                for inner in [condition, then_expr, else_expr] {
                    self.stack.push((Work::Arithmetic(inner), context));
                }
            }
            ArithmeticExpr::Assignment { target, value, .. } => {
                if let ArithmeticLvalue::Indexed { index, .. } = target {
                    self.stack.push((Work::Arithmetic(index), context));
                }
                self.stack.push((Work::Arithmetic(value), context));
            }
        }
    }

    pub(super) fn pattern(&mut self, pattern: &'a Pattern, context: usize) {
        for part in &pattern.parts {
            match &part.kind {
                PatternPart::Literal(_)
                | PatternPart::AnyString
                | PatternPart::AnyChar
                | PatternPart::CharClass(_) => {}
                PatternPart::Group { patterns, .. } => {
                    self.push_all(patterns.iter().map(Work::Pattern), context);
                }
                PatternPart::Word(word) => self.stack.push((Work::Word(word), context)),
            }
        }
    }

    pub(super) fn conditional(&mut self, expression: &'a ConditionalExpr, context: usize) {
        match expression {
            ConditionalExpr::Binary(it) => {
                self.stack.push((Work::Conditional(&it.left), context));
                self.stack.push((Work::Conditional(&it.right), context));
            }
            ConditionalExpr::Unary(it) => self.stack.push((Work::Conditional(&it.expr), context)),
            ConditionalExpr::Parenthesized(it) => {
                self.stack.push((Work::Conditional(&it.expr), context));
            }
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => {
                self.stack.push((Work::Word(word), context));
            }
            ConditionalExpr::Pattern(pattern) => self.stack.push((Work::Pattern(pattern), context)),
            ConditionalExpr::VarRef(reference) => {
                self.stack.push((Work::Reference(reference), context));
            }
        }
    }

    pub(super) fn heredoc_body(&mut self, body: &'a HeredocBody, context: usize) {
        for part in &body.parts {
            let span = offset(part.span);
            match &part.kind {
                HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    let quoted = self.source.as_bytes().get(span.start) == Some(&b'`');
                    self.substitution(body, span, if quoted { "`…`" } else { "$(…)" }, context);
                }
                HeredocBodyPart::ArithmeticExpansion { expression_word_ast, .. } => {
                    self.outline.arithmetic.push(span);
                    self.stack.push((Work::Word(expression_word_ast), context));
                }
                HeredocBodyPart::Parameter(parameter) => self.parameter(parameter, span, context),
            }
        }
    }
}
