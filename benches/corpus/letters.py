"""What words, file names and ideographs are made of."""

from __future__ import annotations

FREQUENT = """
the a to of and in is for it that this on with be as not we if from at by an are or can use file
error test function return value session type message index line when code new run data all have has
will now need should does path node check call output result tool build string number list add fix
get set read write edit update change instead first only also then because after before same each
one two more no so which there them into its out up make made done failed passed expected received
undefined null true false const let import export default class interface async await promise throw
catch try else while loop array object map key name id parent child entry branch commit merge push
pull request review server client config option flag token model context prompt cache memory time
timeout retry queue worker thread process signal exit status log debug trace stack source target
module package version release install script shell command argument parser format schema query
search match filter sort limit page cursor offset buffer stream chunk byte size count total user
agent assistant system role content block text image summary prefix suffix
"""
"""The most frequent ones first."""
SYLLABLES = """
ba be bi bo cu da de do fa fi ga gra ha ho ja ka ki la le li lo ma me mi mo na ne no pa pe pra ra re
ri ro sa se so sta ta te to tra va ve vo wa we ya zu
"""
ENDINGS = "n r s t l m th ck nd st x ng ry ly ion er ing ed al"
EXTENSIONS = "ts ts ts tsx js py rs md json go css sh"
HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产"
    "种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业"
)
KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよ"
KANA += "テストデータファイルエラー"
