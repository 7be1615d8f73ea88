// Asks the policy engine in Gemini CLI's bundle about commands: a list in JSON on stdin, and on
// stdout one line with a decision and its source for each.
import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, rules] = process.argv.slice(-2);
const print = process.stdout.write.bind(process.stdout);
for (const name of ['log', 'debug', 'info', 'warn']) console[name] = () => {};
const bundle = dirname(realpathSync(program));
const name = readdirSync(bundle).find((it) => /^core-.*\.js$/.test(it));
if (!name) throw new Error('its bundle has no engine that is known here');
const core = await import(pathToFileURL(join(bundle, name)).href);
const tier = (place) => (place === rules ? 4 : 1);
const loaded = await core.loadPoliciesFromToml([join(bundle, 'policies'), rules], tier);
if (loaded.errors?.length) throw new Error(loaded.errors.map((it) => it.message).join('; '));
const engine = new core.PolicyEngine({ rules: loaded.rules });
const answers = [];
for (const command of JSON.parse(readFileSync(0, 'utf8'))) {
  const call = { name: 'run_shell_command', args: { command } };
  const { decision, rule } = await engine.check(call);
  answers.push([decision, rule?.source ?? null]);
}
print(`\neclusa ${JSON.stringify(answers)}\n`, () => process.exit(0));
